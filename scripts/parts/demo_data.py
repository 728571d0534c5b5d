"""Makes the files of artifacts_demo/ from nothing but a seed: an invented shop, its customers, sensors and papers.

The text files and the workbook come out byte for byte the same each time; Parquet and PDF have the same contents, their
bytes depend on the versions of DuckDB and WeasyPrint.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import random
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from scripts.parts.demo_workbook import Cell, write_workbook

REGIONS = {"North": "0012", "South": "0047", "East": "0108", "West": "0233"}
PRODUCTS = {
    "Tea, green": 6.5,
    "Tea, black": 5.9,
    "Coffee beans": 14.25,
    "Teapot": 32.0,
    "Cup, set of 4": 24.9,
    "Filter paper": 3.15,
}
NAMES = ("Ada", "Björn", "Chloé", "Dmitri", "Eun-ji", "Fatima", "Goran", "Hana", "Ivan", "Júlia", "Kenji", "Łucja")
FAMILIES = ("Okafor", "Silva", "Kim", "Novák", "Meyer", "Rossi", "O'Brien", "Tanaka")
STORES = {
    "서울": ("강남점", "홍대점", "종로점", "잠실점"),
    "부산": ("해운대점", "서면점"),
    "대구": ("동성로점", "수성점"),
    "인천": ("송도점", "부평점"),
    "광주": ("상무점",),
    "제주": ("연동점",),
}
CUSTOMERS = 60


class Chance:
    """Choices that depend on the seed alone. `random.random` is the one method that keeps its sequence across versions."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def below(self, end: int) -> int:
        return int(self._source.random() * end)

    def one_of(self, values: Sequence[Any]) -> Any:
        return values[self.below(len(values))]


def text_files() -> dict[str, bytes]:
    """The files whose bytes depend on nothing but this code, by name."""
    return {
        "sales.csv": _csv(_sales()).encode(),
        "orders.json": (json.dumps(_orders(), ensure_ascii=False, indent=1) + "\n").encode(),
        "events.ndjson": "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in _events()).encode(),
        "korean_stores.csv": _csv(_korean_stores()).encode("cp949"),
        "report.md": REPORT.encode(),
    }


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _sales() -> list[list[Any]]:
    chance = Chance(1)
    rows: list[list[Any]] = [["order_id", "date", "customer_id", "region", "store_code", "product", "quantity", "unit_price"]]
    for number in range(500):
        day = date(2026, 1, 1) + timedelta(days=number * 90 // 500)
        region = chance.one_of(list(REGIONS))
        product = chance.one_of(list(PRODUCTS))
        price = PRODUCTS[product] * (1, 1, 1, 0.9)[chance.below(4)]
        quantity = 1 + chance.below(6)
        customer = 1001 + chance.below(CUSTOMERS)
        rows.append([f"A-{number + 1:05}", day, customer, region, REGIONS[region], product, quantity, f"{price:.2f}"])
    return rows


def _orders() -> dict[str, Any]:
    chance = Chance(2)
    orders = []
    for number in range(40):
        lines = [
            {"product": (product := chance.one_of(list(PRODUCTS))), "quantity": 1 + chance.below(4), "price": PRODUCTS[product]}
            for _ in range(1 + chance.below(3))
        ]
        orders.append(
            {
                "id": 9007199254740990 + number,  # beyond 2^53 from the fourth on: digits that a double loses
                "customer": {"id": 1001 + chance.below(CUSTOMERS), "country": chance.one_of(("KR", "DE", "BR", "NG"))},
                "placed": f"2026-03-{1 + number * 30 // 40:02}T{8 + chance.below(10):02}:{chance.below(60):02}:00+09:00",
                "lines": lines,
                "total": round(sum(line["quantity"] * line["price"] for line in lines), 2),
                "note": chance.one_of((None, None, None, "gift", "선물 포장")),
            }
        )
    return {"meta": {"shop": "Leaf & Bean", "currency": "EUR", "exported": "2026-04-01"}, "orders": orders}


def _events() -> list[dict[str, Any]]:
    chance = Chance(3)
    moment, events = datetime(2026, 3, 1, 8), []
    for number in range(300):
        moment += timedelta(seconds=20 + chance.below(400))
        kind = chance.one_of(("view", "view", "view", "cart", "purchase"))
        event: dict[str, Any] = {
            "id": number + 1,
            "happened_at": moment.isoformat() + "Z",
            "kind": kind,
            "customer_id": 1001 + chance.below(CUSTOMERS),
        }
        if kind == "purchase":
            event["value"] = round(5 + chance.below(9000) / 100, 2)
        events.append(event)
    return events


def _korean_stores() -> list[list[Any]]:
    chance = Chance(4)
    rows: list[list[Any]] = [["지역", "매장명", "우편번호", "개점일", "직원수", "매출"]]
    for region, stores in STORES.items():
        for store in stores:
            opened = date(2012, 1, 1) + timedelta(days=chance.below(4000))
            postcode = f"{1000 + chance.below(62000):05}"
            rows.append([region, store, postcode, opened, 3 + chance.below(15), 1000 * (20_000 + chance.below(180_000))])
    return rows


def inventory() -> dict[str, list[list[Cell]]]:
    """The sheets of inventory.xlsx."""
    chance = Chance(5)
    stock: list[list[Cell]] = [["product", "store_code", "in_stock", "reorder_at"]]
    stock += [[product, code, chance.below(120), 20] for product in PRODUCTS for code in REGIONS.values()]
    suppliers: list[list[Cell]] = [["product", "supplier", "lead_days", "unit_cost"]]
    for product, price in PRODUCTS.items():
        suppliers.append([product, chance.one_of(FAMILIES) + " Trading", 3 + chance.below(20), round(price * 0.6, 2)])
    return {"stock": stock, "suppliers": suppliers}


def _customers() -> list[dict[str, Any]]:
    chance = Chance(6)
    return [
        {
            "customer_id": 1001 + number,
            "name": f"{chance.one_of(NAMES)} {chance.one_of(FAMILIES)}",
            "segment": chance.one_of(("home", "home", "office", "café")),
            "since": str(date(2019, 1, 1) + timedelta(days=chance.below(2500))),
            "credit_limit": f"{100 * chance.below(50)}.00" if chance.below(8) else None,
        }
        for number in range(CUSTOMERS)
    ]


def _readings(month: int) -> list[dict[str, Any]]:
    chance = Chance(100 + month)
    rows = []
    for hour in range(0, 28 * 24, 3):
        moment = datetime(2026, month, 1) + timedelta(hours=hour)
        for sensor in ("cellar", "roof"):
            swing = 8 * math.sin(moment.hour / 24 * 2 * math.pi) if sensor == "roof" else 0.5
            temperature = None if chance.below(40) == 0 else round(9 + month + swing + chance.below(30) / 10, 1)
            rows.append(
                {"sensor": sensor, "measured_at": str(moment), "temperature": temperature, "humidity": 40 + chance.below(40)}
            )
    return rows


def write_all(folder: Path) -> None:
    """Writes every file of the demo into the folder, in the place of what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in text_files().items():
        (folder / name).write_bytes(data)
    write_workbook(folder / "inventory.xlsx", inventory())
    _parquet(
        folder / "customers.parquet", _customers(),
        "customer_id BIGINT, name VARCHAR, segment VARCHAR, since DATE, credit_limit DECIMAL(12,2)",
    )  # fmt: skip
    for month in (1, 2, 3):
        part = folder / "readings" / f"month={month:02}"
        part.mkdir(parents=True, exist_ok=True)
        shape = "sensor VARCHAR, measured_at TIMESTAMP, temperature DOUBLE, humidity INTEGER"
        _parquet(part / "readings.parquet", _readings(month), shape)
    _report_pdf(folder / "report.pdf")


def _parquet(path: Path, rows: list[dict[str, Any]], columns: str) -> None:
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE made ({columns})")
        marks = ", ".join("?" for _ in rows[0])
        connection.executemany(f"INSERT INTO made VALUES ({marks})", [list(row.values()) for row in rows])
        connection.table("made").write_parquet(str(path))


def _report_pdf(path: Path) -> None:
    import weasyprint

    months = ("January", "February", "March")
    chance = Chance(7)
    rows = "".join(
        f"<tr><td>{month}</td><td>{region}</td><td>{200 + chance.below(300)}</td><td>{3000 + chance.below(900_000) / 100:,.2f}</td></tr>"
        for month in months
        for region in REGIONS
    )
    html = f"""<html lang="en"><head><title>Leaf &amp; Bean, first quarter of 2026</title><style>
    @page {{ size: A4; margin: 20mm; @bottom-center {{ content: counter(page) " / " counter(pages) }} }}
    table {{ border-collapse: collapse }} td, th {{ border: 1px solid #555; padding: 3pt 8pt; text-align: left }}
    h2 {{ break-before: page }}</style></head><body>
    <h1>Leaf &amp; Bean, first quarter of 2026</h1>
    <p>The shop sold tea, coffee and what goes with them in four regions. Sales rose from month to month; the North led in
    orders, the West in revenue.</p><p>The figures by month and region are on the next page.</p>
    <h2>Figures</h2><table><tr><th>Month</th><th>Region</th><th>Orders</th><th>Revenue</th></tr>{rows}</table></body></html>"""
    weasyprint.HTML(string=html).write_pdf(path)


REPORT = """\
# Leaf & Bean: first quarter / 1분기 보고서

Sales of tea and coffee in four regions. **요약:** 매출은 매달 늘었습니다.

## What was sold

| product | orders | share |
| --- | ---: | ---: |
| Tea, green / 녹차 | 91 | 18 % |
| Coffee beans / 원두 | 84 | 17 % |
| Teapot / 찻주전자 | 79 | 16 % |

## What comes next

1. Reorder filter paper in stores `0012` and `0047`.
2. Look at the returns of March:
   - cups that broke on the way
   - 배송 지연
3. Open the store in 제주.

## How it was counted

```sql
SELECT product, count(*) AS orders
FROM 'sales.csv'
GROUP BY product
ORDER BY orders DESC;
```

> All figures are invented by the generator of the demo data.
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/make_demo_data", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("artifacts_demo"), help="by default artifacts_demo")
    folder = parser.parse_args().folder
    write_all(folder)
    total = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"Wrote the demo data to {folder} ({total:,} bytes).")


if __name__ == "__main__":
    main()
