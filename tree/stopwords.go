package tree

import "strings"

// stopWord reports whether key (small letters) is a function word of one of
// the languages below. The list only keeps the commonest from looking like
// topics; other languages lose nothing but some polish.
func stopWord(key string) bool { return strings.Contains(stopList, " "+key+" ") }

const stopList = " " +
	// English
	"the and for that this with you your are was were have has had not but they them their there then than these those what " +
	"when where which who whom whose why how can could will would shall should may might must from into onto over under about " +
	"also just very really like well yeah yes okay now here because some any all each every other another one two its his her " +
	"him she our out off too only own same such more most much many few been being does did doing done get got gets going gonna " +
	"want let lets know think thing things say says said see look mean kind sort maybe actually basically right good " +
	"use used using make made makes take way lot bit back down don didn doesn isn wasn won isn't after before while during again " +
	"even still until upon both between through per via new come comes put quite something anything nothing anyway let's cannot " +
	"uh-huh mm-hmm hmm huh umm " +
	// German
	"der die das und ist nicht ein eine einen einem einer den dem des mit auf für von sich auch als aus bei nach wie wir ihr sie " +
	"ich aber oder wenn dann dass weil noch nur schon sehr hier haben hat sind wird werden war zum zur über also mal man mehr kann " +
	// French
	"les des une est pas que qui dans pour sur avec par plus mais nous vous ils elle elles son ses leur cette ces sont être avoir " +
	"fait comme tout tous aussi donc alors très bien même entre sans " +
	// Spanish, Portuguese, Italian
	"los las una uno del que por para con como más pero sus esta este esto estos son fue hay muy también cuando donde todo todos " +
	"não uma com mais dos das pelo pela isso este essa você ele ela são foi muito " +
	"che non gli per del della dei delle nel con sono come più anche questo questa alla dal " +
	// Dutch
	"het een van niet zijn met voor dat ook maar naar wat deze " +
	// Russian
	"что это как так его она они мне был была было были для или уже все нет только при " +
	// our own labels
	"speech pictures picture screen "
