package retrieve

import (
	"strings"
	"unicode"
)

// allWords mark questions about all of something: lists, trends, how often.
var allWords = []string{
	"how often", "how many times", "in all", "list ", "list all", "all the", "every ", "each of", "trend", "enumerate",
	"lista de", "enumera", "cuántas veces", "liste des", "combien de fois", "énumère", "alle ", "wie oft", "quante volte", "quantas vezes",
	"сколько раз", "все ", "перечисли", "列出", "多少次", "几次", "何回", "一覧", "모두", "몇 번", "كل ", "جميع", "सभी", "कितनी बार",
}

// countWords ask for a number. In speech and prose it is mostly said
// somewhere; in tables it may have to be made from all rows.
var countWords = []string{
	"how many", "number of", "total", "sum of", "average",
	"cuántos", "cuántas", "cuantos", "cuantas", "suma", "promedio", "combien", "somme", "moyenne", "wie viele", "wieviele", "summe", "durchschnitt",
	"quanti", "quante", "somma", "media ", "quantos", "quantas", "soma", "média",
	"сколько", "сумма", "средн", "多少", "几个", "总共", "平均", "いくつ", "合計", "몇 개", "합계", "كم عدد", "مجموع", "متوسط", "कितने", "कितनी", "कुल", "औसत",
}

// rowWords are what the rows and columns of tables are, whatever is in them, and
// that there are any: who counts or adds those up looks at all of them.
var rowWords = []string{
	"how many years", "how many quarters", "how many months", "how many periods", "how many items", "how many rows", "how many columns", "how many entries",
	"how many types", "how many kinds", "how many categor", "how many components", "how many segments", "how many of the", "are there", "is there", "in the table", "total of", "sum of",
	"cuántos años", "cuántos tipos", "cuántas filas", "cuántas categor", " hay ", "combien d années", "combien de types", "combien de lignes", "y a t il",
	"wie viele jahre", "wie viele arten", "wie viele zeilen", "gibt es", "quanti anni", "quanti tipi", "quante righe", "ci sono", "quantos anos", "quantos tipos", "quantas linhas", " há ",
	"сколько лет", "сколько строк", "сколько видов", "几年", "几种", "几行", "几类", "何年あ", "何種類", "何行", "몇 년", "몇 가지", "كم عدد السنوات", "كم نوع", "कितने वर्ष", "कितने प्रकार",
}

// boundWords compare with a bound, so that each row must be looked at.
var boundWords = []string{
	"exceed", "more than", "less than", "greater than", "higher than", "lower than", "fewer than", "above", "below", "at least", "at most", "over ", "under ",
	"más de", "menos de", "superior", "inferior", "plus de", "moins de", "mehr als", "weniger als", "über ", "unter ", "più di", "meno di", "mais de", "acima", "abaixo",
	"больше", "меньше", "выше", "ниже", "超过", "大于", "小于", "低于", "高于", "以上", "以下", "이상", "이하", "أكثر من", "أقل من", "से अधिक", "से कम",
}

// summaryWords mark wishes for the whole in short.
var summaryWords = []string{
	"overall", "main points", "main discussion", "main topics", "general discussion", "summarize", "summarise", "summary", "overview", "whole meeting", "whole video", "what is this about",
	"resumen", "resume ", "de qué trata", "résumé", "résume", "de quoi parle", "zusammenfass", "fasse ", "worum geht", "riassunto", "riassumi", "di cosa parla", "resumo", "resuma", "do que trata",
	"кратко ", "о чем ", "о чём ", "总结", "概要", "讲了什么", "讲什么", "要約", "何について", "요약", "무엇에 관한", "ملخص", "सारांश",
}

// materials are what a question may call the whole it is asked of.
var materials = []string{
	"meeting", "video", "recording", "talk", "lecture", "film", "episode", "podcast", "document", "article", "text", "page", "presentation", "conversation", "session",
}

// Aggregate reports whether a question asks for all of something: whole
// stretches and tables are kept then and the budget is filled. tables says
// whether there are any where it is asked.
func Aggregate(text string, tables bool) bool {
	return marked(text, allWords) || summary(text) || tables && counted(text)
}

// counted reports whether a number is asked for that no single row need hold: a
// count of rows, one under a bound, or one of nothing that is told by a year,
// a date or another number.
func counted(text string) bool {
	return marked(text, countWords) && (marked(text, rowWords) || marked(text, boundWords) || !strings.ContainsFunc(text, unicode.IsDigit))
}

// summary reports whether a question asks for the whole in short.
func summary(text string) bool {
	if marked(text, summaryWords) {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	n := len(words)
	if n < 4 || words[n-1] != "about" { // "what was the meeting about"
		return false
	}
	for _, m := range materials {
		if words[n-2] == m && words[0] == "what" {
			return true
		}
	}
	return false
}
