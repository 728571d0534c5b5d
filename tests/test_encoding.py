"""Encodings are found or refused, never guessed wrong in silence, and nothing is lost on the way to UTF-8."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builtin_tools.core.errors import EncodingProblem, InvalidParameters
from builtin_tools.core.tables.encoding import Encoding, find_encoding, to_utf8

LATE = b"id,value\n" * 300_000


def found(folder: Path, data: bytes, told: str | None = None) -> Encoding:
    path = folder / "data.csv"
    path.write_bytes(data)
    return find_encoding(str(path), told, "data.csv")


def as_text(folder: Path, data: bytes, told: str | None = None) -> str:
    encoding = found(folder, data, told)
    target = folder / "out.csv"
    written = to_utf8(str(folder / "data.csv"), encoding, str(target))
    assert written == target.stat().st_size
    return target.read_bytes().decode("utf-8")


def refusal(folder: Path, data: bytes, told: str | None = None) -> EncodingProblem:
    with pytest.raises(EncodingProblem) as caught:
        found(folder, data, told)
    return caught.value


# ---------------------------------------------------------------- the corpus

# A head alone; a head and three rows; more rows are made by repeating with other numbers.
CORPUS = [
    ("cp949", "지역,매출\n", "서울,1200\n똠방각하,300\n부산,45\n"),
    ("cp949", "이름,나이,성별\n", "홍길동,20,남\n김영희,31,여\n박찬호,44,남\n"),
    ("cp949", "날짜,금액(원),비고\n", "2024-01-01,1000,정상\n2024-01-02,2000,취소\n2024-01-03,0,없음\n"),
    ("cp949", "품목코드,품목명,단가\n", "A01,샴푸,7900\nA02,펩시콜라,1500\nA03,쫄면,4500\n"),
    (
        "cp949",
        "행정동코드,시도명,시군구명\n",
        "1101053,서울특별시,종로구\n2101051,부산광역시,중구\n3901051,제주특별자치도,제주시\n",
    ),
    ("cp932", "氏名,住所\n", "髙橋一郎,東京都\n﨑山花子,大阪府\n山田太郎,北海道\n"),
    ("cp932", "商品コード,商品名\n", "1,㈱サンプル①\n2,ソフトウェア\n3,表計算ソフト\n"),
    ("cp932", "日付,売上金額\n", "2024年1月,100\n2024年2月,200\n2024年3月,300\n"),
    ("cp932", "ｶﾅ氏名,ﾌﾘｶﾞﾅ\n", "ﾔﾏﾀﾞ ﾀﾛｳ,1\nｽｽﾞｷ ﾊﾅｺ,2\nｻﾄｳ ｼﾞﾛｳ,3\n"),
    ("euc-jp", "氏名,住所\n", "高橋一郎,東京都\n田中花子,大阪府\n山田太郎,北海道\n"),
    ("gb18030", "姓名,地址\n", "王伟,北京市海淀区\n李娜,上海市\n张敏,广州市天河区\n"),
    ("gb18030", "日期,销售额\n", "2024年1月,100\n2024年2月,200\n合计,300\n"),
    ("cp950", "姓名,地址\n", "陳志明,臺北市信義區\n林淑芬,高雄市\n王家豪,新竹縣\n"),
    ("cp950", "日期,銷售金額\n", "2024年1月,100\n2024年2月,200\n總計,300\n"),
    ("cp1252", "Stadt;Größe\n", "München;12 €\nKöln;8 €\nDüsseldorf;9 €\n"),
    ("cp1252", "Prénom,Région\n", "Hélène,Besançon\nFrançois,Orléans\nZoé,Nîmes\n"),
    ("cp1252", "Año,Población\n", "2020,España\n2021,Perú\n2022,Bogotá\n"),
    ("cp1252", "Município,População\n", "São Paulo,12\nGoiânia,1\nMaceió,1\n"),
    ("cp1252", "Länge,Höjd\n", "Malmö,1\nÖrebro,2\nLuleå,3\n"),
    ("cp1252", "Navn,Beløb\n", "Søren,100\nÅse,200\nKjær,300\n"),
    ("cp1252", "Città,Qualità\n", "Forlì,buona\nCefalù,più\nCantù,così\n"),
    ("cp1252", "Item,Note\n", "1,“quoted” text\n2,it’s fine – really\n3,£5 or €6\n"),
    ("mac-roman", "Stadt;Größe\n", "München;12\nKöln;8\nDüsseldorf;9\n"),
    ("cp850", "Stadt;Größe\n", "München;12\nKöln;8\nDüsseldorf;9\n"),
    ("cp1250", "Imię,Miejscowość\n", "Łukasz,Łódź\nMałgorzata,Gdańsk\nGrażyna,Częstochowa\n"),
    ("iso-8859-2", "Imię,Miejscowość\n", "Łukasz,Łódź\nMałgorzata,Gdańsk\nGrażyna,Częstochowa\n"),
    ("cp1250", "Město,Příjmení\n", "Plzeň,Dvořák\nBrno,Novák\nČeské Budějovice,Růžička\n"),
    ("cp1250", "Név,Település\n", "Erzsébet,Győr\nLászló,Hódmezővásárhely\nJenő,Szűcsi\n"),
    ("cp1251", "Имя,Город\n", "Иван,Москва\nОльга,Казань\nСергей,Тверь\n"),
    ("cp1251", "Ім'я,Місто\n", "Олексій,Київ\nМарія,Львів\nЇжакевич,Чернігів\n"),
    ("cp1251", "Име,Област\n", "Георги,София\nЙорданка,Пловдив\nЩерю,Търново\n"),
    ("koi8-r", "Имя,Город\n", "Иван,Москва\nОльга,Казань\nСергей,Тверь\n"),
    ("cp866", "Имя,Город\n", "Иван,Москва\nОльга,Казань\nСергей,Тверь\n"),
    ("iso-8859-5", "Имя,Город\n", "Иван,Москва\nОльга,Казань\nСергей,Тверь\n"),
    ("cp1253", "Όνομα,Πόλη\n", "Γιώργος,Αθήνα\nΜαρία,Θεσσαλονίκη\nΝίκος,Πάτρα\n"),
    ("iso-8859-7", "Όνομα,Πόλη\n", "Γιώργος,Αθήνα\nΜαρία,Θεσσαλονίκη\nΝίκος,Πάτρα\n"),
    ("cp1254", "Adı,Şehir\n", "Ayşe,İstanbul\nÇağrı,Eskişehir\nGülşah,Muğla\n"),
    ("cp1255", "שם,עיר\n", "דוד,ירושלים\nשרה,חיפה\nיוסף,באר שבע\n"),
    ("cp1256", "الاسم,المدينة\n", "محمد,القاهرة\nفاطمة,بغداد\nأحمد,الرياض\n"),
    ("cp1257", "Vardas,Miestas\n", "Jonas,Šiauliai\nRūta,Klaipėda\nŽygimantas,Panevėžys\n"),
    ("cp874", "ชื่อ,จังหวัด\n", "สมชาย,กรุงเทพ\nสมหญิง,เชียงใหม่\nประยุทธ์,ขอนแก่น\n"),
]
CASES = [(codec, head) for codec, head, _ in CORPUS]
CASES += [(codec, head + rows) for codec, head, rows in CORPUS]
CASES += [(codec, head + "".join(f"{n},{row}\n" for n in range(17) for row in rows.splitlines())) for codec, head, rows in CORPUS]


def test_no_text_of_the_corpus_is_read_wrong_and_few_are_refused(tmp_path: Path) -> None:
    wrong, refused = [], []
    for codec, text in CASES:
        try:
            encoding = found(tmp_path, text.encode(codec))
        except EncodingProblem:
            refused.append((codec, text))
            continue
        if text.encode(codec).decode(encoding.name) != text:
            wrong.append((codec, encoding.name, text))
        assert encoding.confidence == "likely" or text.isascii()
    assert wrong == []
    assert all(text.count("\n") == 1 for _, text in refused), "only a head alone may be too little"
    assert len(refused) <= 3, refused


@pytest.mark.parametrize("codec", ["cp949", "cp932", "gb18030", "cp950"])
def test_a_head_in_an_east_asian_language_is_enough(tmp_path: Path, codec: str) -> None:
    for name, head, _ in CORPUS:
        if name == codec:
            assert as_text(tmp_path, head.encode(codec)) == head


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("지역,매출\n서울,1200\n똠방각하,300", "cp949"),
        ("㈱サンプル①髙橋", "cp932"),
        ("Besançon;12 €", "cp1252"),
        ("Müller\n", "cp1252"),
        ("비고\n", "cp949"),
        ("売上\n", "cp932"),
    ],
)
def test_a_few_characters_are_enough_where_they_are_telling(tmp_path: Path, text: str, codec: str) -> None:
    assert found(tmp_path, text.encode(codec)).name == codec
    assert as_text(tmp_path, text.encode(codec)) == text


def test_letters_that_all_western_encodings_share_are_read_as_cp1252(tmp_path: Path) -> None:
    assert found(tmp_path, "Prénom,Âge\nZoé,3\n".encode("iso-8859-15")).name == "cp1252"


def test_the_note_of_a_likely_encoding_shows_how_it_reads(tmp_path: Path) -> None:
    note = found(tmp_path, "지역,매출\n".encode("cp949")).note
    assert "cp949" in note
    assert "지역,매출" in note


def test_a_telling_line_far_down_in_a_large_file_is_taken_into_account(tmp_path: Path) -> None:
    data = LATE + "서울,부산\n".encode("cp949")
    assert found(tmp_path, data).name == "cp949"
    assert as_text(tmp_path, data).endswith("서울,부산\n")


def test_a_candidate_that_fails_on_the_last_byte_is_out(tmp_path: Path) -> None:
    data = "서울,부산\n".encode("cp949") * 9_000 + b"\xff\n"
    try:
        assert found(tmp_path, data).name != "cp949"
    except EncodingProblem as problem:
        assert all(choice["encoding"] != "cp949" for choice in (problem.details or {})["candidates"])


# ---------------------------------------------------------------- Unicode


def test_ascii_and_the_empty_file_are_utf8(tmp_path: Path) -> None:
    assert found(tmp_path, b"") == Encoding("utf-8", 0, "certain", "")
    assert found(tmp_path, b"a,b\n1,2\n") == Encoding("utf-8", 0, "certain", "")


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_decides_and_is_dropped(tmp_path: Path, codec: str) -> None:
    text = "지역,매출\r\n서울,😀\r\n"
    data = ("\ufeff" + text).encode(codec)
    encoding = found(tmp_path, data)
    assert (encoding.name, encoding.confidence) == (codec, "certain")
    assert encoding.bom == len("\ufeff".encode(codec))
    assert as_text(tmp_path, data) == text


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["a,b\n1,2\n", "지역,매출\n서울,1200\n", "氏名,住所\n髙橋,東京\n", "é,ü\n1,2\n"])
def test_the_pattern_of_nuls_gives_away_utf16_and_utf32_without_a_mark(tmp_path: Path, codec: str, text: str) -> None:
    encoding = found(tmp_path, text.encode(codec))
    assert (encoding.name, encoding.bom, encoding.confidence) == (codec, 0, "likely")
    assert codec in encoding.note


def test_a_nul_within_utf8_is_no_sign_of_utf16(tmp_path: Path) -> None:
    for text in ("a\0b,c\n", "가\0,나\n", "x,\0\0\0\n1,2\n"):
        assert found(tmp_path, text.encode()) == Encoding("utf-8", 0, "certain", "")


def test_iso_2022_is_not_taken_for_ascii(tmp_path: Path) -> None:
    text = "氏名,住所\n田中,東京\n"
    assert as_text(tmp_path, text.encode("iso2022-jp")) == text


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]),
    st.booleans(),
)
@settings(deadline=None, max_examples=150)
def test_any_text_in_a_form_of_unicode_comes_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, codec: str, mark: bool
) -> None:
    folder = tmp_path_factory.mktemp("unicode")
    text = text.removeprefix("\ufeff")
    unclear = codec == "utf-16-le" and text.startswith("\0")  # its mark and this NUL are the mark of UTF-32
    told = None if mark and not unclear else codec
    assert as_text(folder, (("\ufeff" if mark else "") + text).encode(codec), told) == text


def test_newlines_stay_as_they_are(tmp_path: Path) -> None:
    text = "가,나\r\n다,라\n마\r바\n"
    for codec in ("cp949", "utf-16"):
        assert as_text(tmp_path, text.encode(codec)) == text


def test_a_character_on_the_border_of_two_reads_is_whole(tmp_path: Path) -> None:
    for before in range(3):
        text = "x" * before + "가나다라마바사" * 60_000
        for codec in ("utf-8", "cp949"):
            assert as_text(tmp_path, text.encode(codec), codec) == text


# ---------------------------------------------------------------- damage and doubt


def test_broken_bytes_in_utf8_are_told_with_offset_line_and_what_reads_them(tmp_path: Path) -> None:
    data = "서울,부산\n".encode() * 5 + b"caf\xe9,x\n"
    problem = refusal(tmp_path, data)
    assert "nearly UTF-8" in problem.message
    assert "byte offset 73 (line 6, bytes E9" in problem.message
    assert "encoding=" in problem.guidance


def test_a_character_cut_at_the_end_of_the_file_is_told(tmp_path: Path) -> None:
    problem = refusal(tmp_path, "서울,부산".encode()[:-1])
    assert "nearly UTF-8" in problem.message
    assert problem.details is not None
    assert problem.details["bad_byte"] == {"offset": 10, "line": 1, "bytes": "EC 82"}


def test_utf8_with_a_bad_byte_far_down_is_told(tmp_path: Path) -> None:
    data = "서울,부산\n".encode() * 100_000 + b"\xff\n"
    problem = refusal(tmp_path, data)
    assert "nearly UTF-8" in problem.message
    assert "line 100,001" in problem.message


def test_halves_of_surrogate_pairs_are_not_utf8(tmp_path: Path) -> None:
    refusal(tmp_path, b"abc,\xed\xa0\xbd\xed\xb8\x80\n")
    refusal(tmp_path, "서울,부산\n".encode() + b"\xed\xa0\xbd\xed\xb8\x80\n")


def test_two_files_in_different_encodings_put_together_are_refused(tmp_path: Path) -> None:
    refusal(tmp_path, "한글,이름\n".encode("cp949") + "한글,이름\n".encode())


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    problem = refusal(tmp_path, bytes(range(256)) * 5)
    assert "reads well in no encoding" in problem.message


def test_weak_evidence_is_refused_with_what_each_choice_reads(tmp_path: Path) -> None:
    problem = refusal(tmp_path, "ㄱ,ㄴ\n".encode("cp949"))
    assert "data.csv" in problem.message
    assert "byte offset 0 (line 1, bytes A4 A1" in problem.message
    assert "argument encoding" in problem.guidance
    assert problem.guidance.count("encoding='") >= 2
    assert problem.details is not None
    assert all(choice["sample"] for choice in problem.details["candidates"])


def test_a_mark_that_the_rest_belies_is_told(tmp_path: Path) -> None:
    problem = refusal(tmp_path, b"\xef\xbb\xbfa,b\n\xff\n")
    assert "byte order mark of utf-8" in problem.message
    assert "byte offset 7 (line 2, bytes FF)" in problem.message


# ---------------------------------------------------------------- what the agent says


@pytest.mark.parametrize("alias", ["CP949", "uhc", "ms949", "euc-kr", "EUC_KR", "ks_c_5601-1987", "korean", " cp949 "])
def test_any_spelling_of_an_encoding_is_understood(tmp_path: Path, alias: str) -> None:
    encoding = found(tmp_path, "지역,매출\n".encode("cp949"), alias)
    assert encoding.confidence == "told"
    assert encoding.name in ("cp949", "euc-kr")
    assert as_text(tmp_path, "지역,매출\n".encode("cp949"), alias) == "지역,매출\n"


@pytest.mark.parametrize(
    ("told", "codec", "text"),
    [
        ("euc-kr", "cp949", "똠방각하"),
        ("shift_jis", "cp932", "①髙橋㈱"),
        ("gb2312", "gb18030", "朱镕基"),
        ("ascii", "utf-8", "é"),
        ("latin-1", "cp1252", "“12 €”"),
    ],
)
def test_the_superset_of_what_was_told_is_used_and_said(tmp_path: Path, told: str, codec: str, text: str) -> None:
    encoding = found(tmp_path, text.encode(codec), told)
    assert encoding.confidence == "told"
    assert "superset" in encoding.note
    assert as_text(tmp_path, text.encode(codec), told) == text


@pytest.mark.parametrize("told", ["ut8", "base64", "rot13", "unicode_escape", "a\0b", "klingon", "x" * 500, "utf-7", "한글"])
def test_what_is_no_text_encoding_is_refused_with_examples(tmp_path: Path, told: str) -> None:
    with pytest.raises(InvalidParameters) as caught:
        found(tmp_path, b"a\n", told)
    assert "cp949" in caught.value.guidance


def test_auto_is_as_good_as_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, "지역,매출\n".encode("cp949"), "auto").confidence == "likely"


def test_a_wrong_word_is_refused_with_place_bytes_and_what_fits(tmp_path: Path) -> None:
    problem = refusal(tmp_path, "a,b\n이름,나이\n".encode("cp949"), "UTF8")
    assert "data.csv is not in utf-8" in problem.message
    assert "byte offset 4 (line 2, bytes C0)" in problem.message
    assert "cp949" in problem.guidance


def test_lines_of_utf16_are_counted_right(tmp_path: Path) -> None:
    problem = refusal(tmp_path, "a\n가\n".encode("utf-16-le") + b"\x00\xd8\x41\x00", "utf-16-le")
    assert "(line 3" in problem.message


@pytest.mark.parametrize("codec", ["utf-16", "utf-32"])
def test_utf16_without_a_word_on_its_order_is_read_by_mark_or_pattern(tmp_path: Path, codec: str) -> None:
    text = "이름,나이\n"
    for data in (text.encode(codec), text.encode(codec + "-be"), text.encode(codec + "-le")):
        assert as_text(tmp_path, data, codec) == text


def test_a_byte_order_mark_of_what_was_told_is_dropped(tmp_path: Path) -> None:
    for told in ("utf-8", "utf-8-sig"):
        assert as_text(tmp_path, "\ufeffa,b\n".encode(), told) == "a,b\n"


# ---------------------------------------------------------------- cost


def test_a_utf8_file_loads_nothing_heavy() -> None:
    program = (
        "import sys, tempfile, os\n"
        "from builtin_tools.core.tables.encoding import find_encoding\n"
        "handle, path = tempfile.mkstemp()\n"
        "os.write(handle, '지역,매출\\n'.encode()); os.close(handle)\n"
        "assert find_encoding(path, None, 'a').name == 'utf-8'; os.unlink(path)\n"
        "heavy = [name for name in sys.modules if 'text_encoding_' in name or name.startswith('charset')]\n"
        "print(sorted(heavy))\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['builtin_tools.core.tables.text_encoding_bytes']"
