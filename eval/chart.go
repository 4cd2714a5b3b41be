package eval

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Bar is one horizontal bar of a chart with its interval; Low and High are
// equal where there is none.
type Bar struct {
	Label     string
	Value     float64
	Low, High float64
	Faint     bool // a baseline
}

// Series is one line of a chart.
type Series struct {
	Label string
	X, Y  []float64
}

// Sizes of charts in pixels.
const (
	chartWide  = 640
	chartLeft  = 230 // for labels
	chartRight = 70  // for values
	barHigh    = 26
	plotHigh   = 320
	plotLeft   = 60
)

var colours = []string{"#2563a8", "#c2571a", "#3f7d3a", "#7a4a9e", "#8a6d1d"}

// svg opens and closes a picture on white, so that it reads on dark pages too.
func svg(high int, body string) []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+
		`<rect width="100%%" height="100%%" fill="#ffffff"/>%s</svg>`+"\n", chartWide, high, chartWide, high, body)
}

func text(x, y float64, anchor, s string) string {
	return fmt.Sprintf(`<text x="%.1f" y="%.1f" text-anchor="%s" fill="#222222">%s</text>`, x, y, anchor, html.EscapeString(s))
}

func line(x1, y1, x2, y2 float64, colour string) string {
	return fmt.Sprintf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, x1, y1, x2, y2, colour)
}

// Bars draws a bar chart from 0 as an SVG picture.
func Bars(title string, bars []Bar) []byte {
	most := 0.0
	for _, b := range bars {
		most = max(most, b.Value, b.High)
	}
	scale := float64(chartWide-chartLeft-chartRight) / math.Max(most, 1e-9)
	var s strings.Builder
	s.WriteString(text(10, 20, "start", title))
	for i, b := range bars {
		y := float64(36 + i*barHigh)
		fill := colours[0]
		if b.Faint {
			fill = "#9aa4ae"
		}
		s.WriteString(text(chartLeft-8, y+14, "end", b.Label))
		fmt.Fprintf(&s, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`, chartLeft, y+2, b.Value*scale, barHigh-8, fill)
		end := max(b.Value, b.High)
		if b.High > b.Low {
			lo, hi, mid := chartLeft+b.Low*scale, chartLeft+b.High*scale, y+float64(barHigh-8)/2+2
			s.WriteString(line(lo, mid, hi, mid, "#222222") + line(lo, mid-4, lo, mid+4, "#222222") + line(hi, mid-4, hi, mid+4, "#222222"))
		}
		s.WriteString(text(chartLeft+end*scale+6, y+14, "start", short(b.Value)))
	}
	return svg(46+len(bars)*barHigh, s.String())
}

// short is a value in four digits.
func short(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// Lines draws curves in the unit square as an SVG picture.
func Lines(title, xLabel, yLabel string, all []Series) []byte {
	wide := float64(chartWide - plotLeft - 150)
	px := func(x float64) float64 { return plotLeft + x*wide }
	py := func(y float64) float64 { return 40 + (1-y)*plotHigh }
	var s strings.Builder
	s.WriteString(text(10, 20, "start", title))
	for i := range 6 {
		v := float64(i) / 5
		s.WriteString(line(px(0), py(v), px(1), py(v), "#e3e6e9") + line(px(v), py(0), px(v), py(1), "#e3e6e9"))
		s.WriteString(text(px(0)-6, py(v)+4, "end", short(v)) + text(px(v), py(0)+18, "middle", short(v)))
	}
	s.WriteString(text(px(.5), py(0)+38, "middle", xLabel))
	fmt.Fprintf(&s, `<g transform="rotate(-90 16 %.1f)">%s</g>`, py(.5), text(16, py(.5), "middle", yLabel))
	for i, c := range all {
		colour := colours[i%len(colours)]
		var points []string
		for k := range c.X {
			points = append(points, fmt.Sprintf("%.1f,%.1f", px(c.X[k]), py(c.Y[k])))
		}
		fmt.Fprintf(&s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`, strings.Join(points, " "), colour)
		y := 50 + float64(i)*20
		s.WriteString(line(px(1)+14, y, px(1)+34, y, colour) + text(px(1)+40, y+4, "start", c.Label))
	}
	return svg(plotHigh+90, s.String())
}
