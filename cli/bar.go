package cli

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/reeltree/reeltree/client"
)

// bar shows the progress of one job on a terminal; elsewhere it shows nothing.
type bar struct {
	all   *mpb.Progress
	line  *mpb.Bar
	stage string
}

func newBar(s *Settings, p Process, title string) *bar {
	if s.JSON || !terminal(p.Stderr) {
		return &bar{}
	}
	if runes := []rune(title); len(runes) > 32 {
		title = string(runes[:31]) + "…"
	}
	b := &bar{all: mpb.New(mpb.WithOutput(p.Stderr), mpb.WithWidth(40))}
	b.line = b.all.AddBar(0,
		mpb.PrependDecorators(decor.Name(title+" "), decor.Any(func(decor.Statistics) string { return b.stage })),
		mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.AverageETA(decor.ET_STYLE_MMSS)),
		mpb.BarRemoveOnComplete())
	return b
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (b *bar) show(e client.Event) {
	if b.line == nil || e.Type != "progress" {
		return
	}
	b.stage = e.Stage
	b.line.SetTotal(e.Total, false)
	b.line.SetCurrent(e.Done)
}

func (b *bar) end() {
	if b.line != nil {
		b.line.Abort(true)
		b.all.Wait()
	}
}
