package retrieve

import "testing"

// The same wishes in the languages of the word lists. Each is paired with one
// in the same language for a single thing, so that neither yes nor no passes.
func TestAggregateInAnyScript(t *testing.T) {
	for _, c := range []struct{ all, one string }{
		{"How many quarters did income exceed 30 million?", "What was the income in the second quarter of 2019?"},
		{"How many types of pumps are listed?", "Which pump was sold in 2018?"},
		{"¿En cuántos años las ventas fueron más de 500?", "¿Cuál fue la venta de 2018?"},
		{"¿Cuántos tipos de bombas hay en 2020?", "¿Quién vendió la bomba?"},
		{"Combien d'années les ventes ont-elles dépassé, plus de 500 ?", "Quelle était la vente de 2018 ?"},
		{"Wie viele Arten von Pumpen wurden 2019 verkauft?", "Wie hoch war der Umsatz 2018?"},
		{"Quanti tipi di pompe ci sono nel 2019?", "Qual era la vendita del 2018?"},
		{"Quantos anos as vendas ficaram acima de 500?", "Qual foi a venda de 2018?"},
		{"Сколько лет продажи были больше 500?", "Какой была выручка в 2018 году?"},
		{"有几年销售额超过500？一共多少？", "2018年的销售额如何？"},
		{"売上が500以上の年はいくつありますか", "2018年の売上は"},
		{"매출이 500 이상인 해는 몇 개입니까", "2018년 매출은"},
		{"كم عدد السنوات التي كانت فيها المبيعات أكثر من 500؟", "ما هي مبيعات 2018؟"},
		{"कितने वर्ष बिक्री 500 से अधिक थी?", "2018 की बिक्री क्या थी?"},
	} {
		if !Aggregate(c.all, true) {
			t.Errorf("%q is about all rows", c.all)
		}
		if Aggregate(c.one, true) {
			t.Errorf("%q is about one", c.one)
		}
	}
}

// Of tables a total or a count that a year, a date or a number tells stands in
// one row; without one it may be of all.
func TestTotalsThatOneRowHolds(t *testing.T) {
	for text, want := range map[string]bool{
		"What were the total assets in 2019?":              false,
		"What are the total assets?":                       true,
		"How many shares were granted in March 2016?":      false,
		"How many shares were granted?":                    true,
		"In 2018, how many months had prices below 5?":     true,
		"What is the sum of the costs of 2018 and 2019?":   true,
		"How often does the committee meet?":               true,
		"What does the report say about the total eclipse": true, // a word, not its sense, is what is seen
	} {
		if Aggregate(text, true) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

// What a whole recording is about, not what is said about something in it.
func TestWishesForTheWhole(t *testing.T) {
	for text, want := range map[string]bool{
		"What was the meeting about?":                                 true,
		"What is this talk about?":                                    true,
		"What was the general discussion?":                            true,
		"¿De qué trata el vídeo?":                                     true,
		"Worum geht es in dem Film?":                                  true,
		"这个视频讲了什么？":                                                   true,
		"О чём этот фильм?":                                           true,
		"What did the meeting decide about?":                          false,
		"What did she say about the meeting?":                         false,
		"Who talked about the recording?":                             false,
		"What does the chair think the new rule on pets is all about": false,
		"about": false,
	} {
		if summary(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
