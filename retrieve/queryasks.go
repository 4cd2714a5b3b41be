package retrieve

// numberWords ask for a number: a date, an amount, an order.
var numberWords = []string{
	"how many", "how much", "how long", "how old", "how far", "how often", "how large", "how big", "how high", "how tall", "how deep", "how heavy", "how fast",
	"when ", "what year", "which year", "what date", "what age", "what percent", "what number", "what time", "in what year", "what century",
	"cuantos", "cuantas", "cuándo", "cuánt", "qué año", "qué fecha", "qué porcentaje", "qué edad", "qué siglo",
	"combien", "quand ", "quelle année", "quelle date", "wie viel", "wieviel", "wie lange", "wie alt", "wie oft", "wie hoch", "wann ", "welchem jahr",
	"quanti", "quante", "quanto", "quanta", "quando", "che anno", "quantos", "quantas", "que ano",
	"сколько", "когда", "каком году", "多少", "几", "何时", "什么时候", "哪一年", "哪年", "年份", "百分", "いくつ", "いつ", "何年",
	"متى", "كم ", "أي عام", "أي سنة", "نسبة", "कितन", "कब", "किस वर्ष", "प्रतिशत",
}

// nameWords ask for somebody or some place.
var nameWords = []string{
	"who ", "whom ", "whose ", "where ", "what city", "which city", "what country", "which country", "quién", "dónde", "quien ", "donde ", "de quién",
	"qui ", "où ", "wer ", "wen ", "wem ", "wessen ", "wo ", "chi ", "dove ", "quem ", "onde ", "кто ", "кого ", "где ",
}

// looks is what an answer to the question should look like: a number, a name,
// or nothing that could be told. Capitals tell names apart, so only in scripts
// that have them.
func (q *question) looks() token {
	switch {
	case marked(q.text, numberWords):
		return tokenNumber
	case marked(q.text, nameWords):
		return tokenName
	}
	return 0
}
