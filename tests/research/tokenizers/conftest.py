"""One text that has everything: prose in three languages, runs, marks, digits, rare spaces and emoji."""

import pytest

SAMPLE = (
    "Once upon a time, there was a little rabbit named Freddy. The rabbit lived in the hollow of an old tree, and "
    "when the weather was fine the other animals came there to hear the stories that the rabbit told. It's said that "
    "they've never heard the same story twice; we'll see.\n\n"
    "옛날 옛적에 프레디라는 작은 토끼가 있었습니다. 토끼는 오래된 나무의 구멍에 살았고, 날씨가 좋으면 다른 "
    "동물들이 토끼의 이야기를 들으러 왔습니다.\r\n"
    "Es war einmal ein kleines Kaninchen namens Freddy, größer als die Mäuse und weiser als die Eulen. Hallo Welt!\n"
    "aaaa aaaaaaa abab ababab baba 1234567 3.14 ½ Ⅷ ١٢٣ x² café cafe\u0301 हिन्दी ไทย 😀😀 👨‍👩‍👧 "
    "\t\tnon\u00a0breaking\u2028line\u3000wide\x1cfile  end'S ſ 'ſ  \n  "
) * 3


@pytest.fixture(scope="session")
def sample_text() -> str:
    return SAMPLE
