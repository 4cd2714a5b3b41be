package retrieve

// What the words of a question say about the order of things.
const (
	orderFirst = iota // at the beginning
	orderNext         // after something else
	orderLast         // at the end
	orderBack         // again
	orders
)

// orderPlaces is how many features of place each of them is crossed with.
const orderPlaces = 5

var orderWords = [orders][]string{
	orderFirst: {
		"first", "begin", "start", "intro", "opening", "initial", "at the top of",
		"primer", "empiez", "empez", "comienz", "al principio", "inicio", "premier", "commence", "debut", "début", "au debut", "zuerst", "anfang", "beginn",
		"prima ", "inizia", "primo", "começ", "primeir", "сначала", "начал", "перв", "最初", "開始", "开始", "首先", "起初", "أول", "بداية", "يبدأ", "पहल", "शुरू",
	},
	orderNext: {
		"then", "next", "after", "continu", "second", "later", "follow", "now ", "eventually",
		"luego", "despues", "después", "entonces", "siguiente", "puis", "ensuite", "apres", "après", "dann", "danach", "nachdem",
		"poi ", "dopo", "depois", "затем", "потом", "после", "然后", "接着", "之后", "その後", "次に", "ثم", "بعد", "फिर", "बाद",
	},
	orderLast: {
		"last", "final", "end", "conclu", "closing", "finish", "outro", "credits",
		"por último", "por ultimo", "al final", "termin", "enfin", "à la fin", "a la fin", "zuletzt", "schliesslich", "schließlich", "am ende",
		"infine", "alla fine", "fim", "наконец", "конц", "最后", "最後", "终于", "結局", "أخير", "نهاية", "अंत", "आखिर",
	},
	orderBack: {
		"again", "back", "another", "other", "more",
		"otra vez", "de nuevo", "encore", "wieder", "noch", "ancora", "di nuovo", "novamente", "снова", "ещё", "再", "又", "もう一度", "مرة أخرى", "फिर से",
	},
}

// orderOf marks which kinds of order words stand in a question.
func orderOf(text string) (out [orders]float32) {
	for o, words := range orderWords {
		if marked(text, words) {
			out[o] = 1
		}
	}
	return out
}
