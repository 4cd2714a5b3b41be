//go:build cgo

package ingest

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// transition is a place where one shot becomes the next, in milliseconds; a
// hard cut begins and ends at the same time.
type transition struct{ from, to int64 }

// scenes are pictures of many kinds, most of them moving, as ffmpeg sources.
var scenes = []string{
	"testsrc2=s=320x180:r=25,hue=h=%d",
	"mandelbrot=s=320x180:r=25:start_scale=0.%02d3,hue=h=%[1]d",
	"gradients=s=320x180:r=25:c0=0x%06x:c1=0x%06x:x0=10:y0=10:x1=300:y1=150:speed=0.01",
	"color=c=0x%06x:s=320x180:r=25,drawbox=x=20:y=20:w=90:h=60:c=0x%06x:t=fill,noise=alls=12:allf=t",
	"smptehdbars=s=320x180:r=25,hue=h=%d,rotate=a=t/9",
	"cellauto=s=320x180:r=25:rule=110:seed=%d,hue=s=0",
	"life=s=320x180:r=25:seed=%d:mold=10:life_color=0x%06x:death_color=0x%06x,format=yuv420p",
	"rgbtestsrc=s=640x360:r=25,hue=h=%d,crop=320:180:t*20:t*10",
}

// scene is a picture that none of the others of a clip is like.
func scene(rng *rand.Rand, kind int) string {
	s := scenes[kind]
	if !strings.Contains(s, "%06x") {
		return fmt.Sprintf(s, 10+rng.IntN(80))
	}
	args := []any{}
	if strings.Contains(s, "%d") {
		args = append(args, rng.IntN(1000))
	}
	for range strings.Count(s, "%06x") {
		args = append(args, rng.IntN(1<<24))
	}
	return fmt.Sprintf(s, args...)
}

// shotClip makes a clip of six shots of 2.4 to 4.8 s. how is "cut", or the name
// of a transition of ffmpeg's xfade, which then takes 0.4 to 1.4 s.
func shotClip(t *testing.T, seed uint64, how string) (path string, truth []transition) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	args, graph, last, at := []string{"-v", "error"}, "", "[s0]", int64(0)
	for i, kind := range rng.Perm(len(scenes))[:6] {
		length, join := 40*(60+rng.Int64N(60)), int64(0)
		if how != "cut" {
			join = 40 * (10 + rng.Int64N(25))
		}
		args = append(args, "-f", "lavfi", "-i", scene(rng, kind))
		graph += fmt.Sprintf("[%d:v]trim=end_frame=%d,setpts=PTS-STARTPTS,setsar=1,format=yuv420p,settb=1/25[s%d];", i, (length+1400)/40, i)
		switch {
		case i == 0:
		case how == "cut":
			graph += fmt.Sprintf("%strim=end=%.3f[c%d];[c%d][s%d]concat,settb=1/25[o%d];", last, float64(at)/1000, i, i, i, i)
		default:
			graph += fmt.Sprintf("%s[s%d]xfade=%s:offset=%.3f:duration=%.3f[o%d];", last, i, how, float64(at)/1000, float64(join)/1000, i)
		}
		if i > 0 {
			last, truth = fmt.Sprintf("[o%d]", i), append(truth, transition{at, at + join})
		}
		at += length
	}
	path = filepath.Join(t.TempDir(), "shots.mp4")
	args = append(args, "-filter_complex", graph+last+"null", "-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", path)
	if said, err := exec.CommandContext(t.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, said)
	}
	return path, truth
}

// cutsFound counts the true transitions that have a cut of their own within
// slack milliseconds, and the cuts that belong to none.
func cutsFound(truth []transition, cuts []int64, slack int64) (found, wrong int) {
	taken := map[int]bool{}
	for _, at := range cuts {
		hit := false
		for i, tr := range truth {
			if !taken[i] && at >= tr.from-slack && at <= tr.to+slack {
				taken[i], hit = true, true
				break
			}
		}
		if !hit {
			wrong++
		}
	}
	return len(taken), wrong
}

// Twenty clips with hard cuts, and twenty with dissolves and fades through
// black and white.
func TestShotBoundariesOfMadeClips(t *testing.T) {
	for _, c := range []struct {
		name  string
		how   []string
		slack int64
		least float64
	}{
		{"hard cuts", []string{"cut"}, 40, .95},
		{"dissolves and fades", []string{"fade", "fadeblack", "fade", "fadewhite"}, 200, .85},
	} {
		t.Run(c.name, func(t *testing.T) {
			var found, wrong, all int
			for seed := range uint64(20) {
				path, truth := shotClip(t, seed+1, c.how[seed%uint64(len(c.how))])
				var cuts []int64
				for _, s := range sample(t, path, MediaRequest{}).shots {
					cuts = append(cuts, s.TimeMS)
				}
				f, w := cutsFound(truth, cuts, c.slack)
				t.Logf("clip %d: found %d of %d, wrong %d: %v in %v", seed, f, len(truth), w, truth, cuts)
				found, wrong, all = found+f, wrong+w, all+len(truth)
			}
			recall, precision := float64(found)/float64(all), float64(found)/float64(found+wrong)
			t.Logf("recall %.3f, precision %.3f", recall, precision)
			if recall < c.least || precision < c.least {
				t.Errorf("recall %.3f, precision %.3f, want %.2f of both", recall, precision, c.least)
			}
		})
	}
}
