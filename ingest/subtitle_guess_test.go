package ingest

import (
	"testing"

	"golang.org/x/text/encoding/unicode"
)

// A subtitle's worth of text in each script, written in its code page.
func TestGuessedEncodings(t *testing.T) {
	texts := map[string]string{
		"windows-1252": "Où étais-tu ? C'était très long, mais ça va. À bientôt, mon frère. Größe und Übung für Mädchen. El niño salió mañana.",
		"windows-1250": "Když přišel domů, byla tma. Proč jsi to udělal? Nevím, řekl tiše. Gdzie jesteś? Będę później, proszę.",
		"windows-1254": "Nereye gidiyorsun? Bilmiyorum, ağabey. Şimdi değil, yarın görüşürüz. Işık çok güçlü.",
		"windows-1251": "Где ты был? Я ждал тебя весь вечер. Мы не можем больше оставаться здесь, сказал он.",
		"koi8-r":       "Где ты был? Я ждал тебя весь вечер. Мы не можем больше оставаться здесь, сказал он.",
		"windows-1253": "Πού ήσουν; Σε περίμενα όλο το βράδυ. Δεν μπορούμε να μείνουμε άλλο εδώ, είπε.",
		"windows-1255": "איפה היית? חיכיתי לך כל הערב. אנחנו לא יכולים להישאר כאן יותר.",
		"windows-1256": "أين كنت؟ انتظرتك طوال المساء. لا يمكننا البقاء هنا أكثر من ذلك.",
		"windows-874":  "คุณไปไหนมา ฉันรอคุณอยู่ทั้งคืน เราอยู่ที่นี่ต่อไปไม่ได้แล้ว",
		"shift_jis":    "どこにいたの?一晩中待っていたんだよ。もうここにはいられない、と彼は言った。",
		"euc-jp":       "どこにいたの?一晩中待っていたんだよ。もうここにはいられない、と彼は言った。",
		"euc-kr":       "어디 있었어? 저녁 내내 너를 기다렸어. 우리는 더 이상 여기에 있을 수 없어.",
		"gb18030":      "你去哪里了?我等了你一个晚上。我们不能再留在这里了,他说。",
		"big5":         "你去哪裡了?我等了你一個晚上。我們不能再留在這裡了,他說。",
	}
	for _, l := range legacies() {
		t.Run(l.name, func(t *testing.T) {
			want := texts[l.name]
			data, err := l.enc.NewEncoder().String(want)
			if err != nil {
				t.Fatal(err)
			}
			got, name, guessed := decodeText([]byte(data))
			if got != want || name != l.name || !guessed {
				t.Errorf("read as %s (guessed %v): %s\nwant %s", name, guessed, got, want)
			}
		})
	}
}

func TestUTF16WithoutMark(t *testing.T) {
	const want = "1\n00:00:01,000 --> 00:00:02,000\nПривет\n"
	for name, order := range map[string]unicode.Endianness{"utf-16le": unicode.LittleEndian, "utf-16be": unicode.BigEndian} {
		data, err := unicode.UTF16(order, unicode.IgnoreBOM).NewEncoder().String(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, enc, guessed := decodeText([]byte(data)); got != want || enc != name || guessed {
			t.Errorf("%s read as %s: %q", name, enc, got)
		}
	}
}

func TestDamagedUTF8StaysUTF8(t *testing.T) {
	got, enc, _ := decodeText([]byte("für Übung, öfter Äpfel, größer, süß, schön, über, Öl\xff\n"))
	if enc != "utf-8" || got != "für Übung, öfter Äpfel, größer, süß, schön, über, Öl\uFFFD\n" {
		t.Errorf("read as %s: %q", enc, got)
	}
}
