"""Slips from other SQL dialects, and DuckDB's form of each."""

from __future__ import annotations

import re

_FUNCTIONS = {
    "date_format": "strftime(day, '%Y-%m')", "to_char": "strftime(day, '%Y-%m-%d')", "format_date": "strftime(day, '%Y-%m')",
    "to_date": "strptime(text, '%d/%m/%Y')::DATE", "str_to_date": "strptime(text, '%d/%m/%Y')", "parse_date": "strptime(text, '%Y-%m-%d')::DATE",
    "to_timestamp_tz": "strptime(text, '%Y-%m-%d %H:%M:%S%z')", "datediff": "date_diff('day', start, end)", "timestampdiff": "date_diff('minute', start, end)",
    "dateadd": "day + INTERVAL 7 DAY", "date_sub": "day - INTERVAL 7 DAY", "date_add": "day + INTERVAL 7 DAY", "adddate": "day + INTERVAL 7 DAY",
    "getdate": "current_timestamp", "sysdate": "current_timestamp", "now_utc": "current_timestamp", "curdate": "current_date",
    "isnull": "column IS NULL, or coalesce(column, 0)", "nvl": "coalesce(a, b)", "iif": "CASE WHEN … THEN … ELSE … END", "decode": "CASE … END",
    "group_concat": "string_agg(name, ', ')", "listagg": "string_agg(name, ', ' ORDER BY name)", "string_split_to_table": "unnest(string_split(text, ','))",
    "charindex": "strpos(text, 'part')", "instr": "strpos(text, 'part')", "locate": "strpos(text, 'part')", "len": "length(text)",
    "substring_index": "split_part(text, ',', 1)", "json_value": "json_extract_string(doc, '$.key')", "json_query": "json_extract(doc, '$.key')",
    "get_json_object": "json_extract_string(doc, '$.key')", "to_number": "CAST(text AS DECIMAL(18,2))", "safe_cast": "TRY_CAST(text AS INTEGER)",
    "convert": "CAST(text AS INTEGER)", "try_convert": "TRY_CAST(text AS INTEGER)", "safe_divide": "a / nullif(b, 0)", "div0": "a / nullif(b, 0)",
    "countif": "count(*) FILTER (condition)", "count_if": "count(*) FILTER (condition)", "sumif": "sum(x) FILTER (condition)",
    "percentile": "quantile_cont(x, 0.5)", "approx_percentile": "approx_quantile(x, 0.5)", "stdev": "stddev(x)", "var": "variance(x)",
    "to_json_string": "to_json(x)", "regexp_like": "regexp_matches(text, 'pattern')", "rlike": "regexp_matches(text, 'pattern')",
    "regexp_substr": "regexp_extract(text, 'pattern')", "regexp_contains": "regexp_matches(text, 'pattern')", "eomonth": "last_day(day)",
    "array_length_1": "len(list)", "array_size": "len(list)", "size": "len(list)", "explode": "unnest(list)", "flatten_json": "unnest(list)",
    "rand": "random()", "newid": "uuid()", "unix_timestamp": "epoch(stamp)", "from_unixtime": "to_timestamp(seconds)", "weekday": "dayofweek(day)",
}  # fmt: skip
_SYNTAX = [
    (r"\bselect\s+(?:distinct\s+)?top\s*\(?\s*\d+", "DuckDB has no TOP: put LIMIT 10 at the end of the statement."),
    (r"\blimit\s+\d+\s*,\s*\d+", "DuckDB writes LIMIT 10 OFFSET 20, not LIMIT 20, 10."),
    (r"\brownum\b", "DuckDB has no ROWNUM: use LIMIT, or row_number() OVER ()."),
    (r"\bcross\s+apply\b|\bouter\s+apply\b", "DuckDB writes CROSS JOIN LATERAL (…) or LEFT JOIN LATERAL (…) ON true."),
    (r"\bconvert\s*\(\s*\w+\s*,", "DuckDB writes CAST(value AS type)."),
    (r"\[\w+(?: \w+)+\]", 'DuckDB sets names with blanks in double quotes: "order date".'),
    (r"\bilike\s+any\b", "DuckDB has no ILIKE ANY: join the conditions with OR."),
    (r"`", "DuckDB sets names in double quotes: \"order date\", and files in single quotes: 'data/sales.csv'."),
    (r"\bdate_add\s*\(|\bdate_sub\s*\(|\bdateadd\s*\(", "DuckDB writes day + INTERVAL 7 DAY."),
    (r"\bdatediff\s*\(", "DuckDB writes date_diff('day', start, end)."),
    (r"==(?!=)\s*null|<>\s*null|!=\s*null|=\s*null", "Compare with NULL by IS NULL or IS NOT NULL."),
    (r"\bwith\s*\(\s*nolock\s*\)", "Leave WITH (NOLOCK) out."),
    (r"\bgetdate\s*\(", "DuckDB writes current_timestamp."),
    (r"\bfor\s+(?:json|xml)\b", "Leave FOR JSON out, and ask for output_format json."),
]


def function_hint(message: str, sql: str) -> str:
    """DuckDB's form of a function that another dialect has, where the message names one; else ""."""
    named = re.search(r"Function with name \"?(\w+)\"? does not exist|types '(\w+)\(|[Ff]unction \"?(\w+)\"?", message)
    names = [part for part in named.groups() if part] if named else []
    names += [
        word for word in re.findall(r"(\w+)\s*\(", sql) if word.lower() in ("datediff", "date_format", "to_char", "dateadd")
    ]
    for name in names:
        form = _FUNCTIONS.get(name.lower())
        if form:
            return f"In DuckDB {name} is written {form}."
    return ""


def syntax_hint(sql: str) -> str:
    """DuckDB's form of a turn of another dialect that stands in the statement; else ""."""
    return next((hint for pattern, hint in _SYNTAX if re.search(pattern, sql, re.IGNORECASE)), "")
