package library

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func saveFrames(t *testing.T, s *Store, tenant, node string, jpegs ...string) []tree.FrameRef {
	t.Helper()
	pictures := make([]Picture, len(jpegs))
	for i, j := range jpegs {
		pictures[i] = Picture{JPEG: []byte(j), TimeMS: int64(i), Width: 4, Height: 3}
	}
	refs, err := s.SaveFrames(t.Context(), tenant, node, pictures)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// clipOf stores a clip whose leaves show refs.
func clipOf(t *testing.T, s *Store, tenant, node string, refs []tree.FrameRef) {
	t.Helper()
	source, at, _ := tree.ParseNodeID(node)
	n := &tree.Node{ID: node, Level: tree.L2, Text: "section", Span: tree.MS(int64(at[1])*1000, int64(at[1])*1000+1000)}
	for i := range refs {
		n.Children = append(n.Children, &tree.Node{ID: tree.NodeID(source, append(at, i)...), Level: tree.L3, Text: "moment", Span: n.Span, Evidence: tree.Evidence{Frame: &refs[i]}})
	}
	if err := s.SaveClip(t.Context(), tenant, n); err != nil {
		t.Fatal(err)
	}
}

func wantFrame(t *testing.T, s *Store, tenant, jpeg string) {
	t.Helper()
	if got, err := s.Frame(t.Context(), tenant, tree.FrameID([]byte(jpeg))); err != nil || string(got) != jpeg {
		t.Errorf("frame %q: %q %v", jpeg, got, err)
	}
}

func TestFramesAreFoundAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for _, id := range []string{sourceID, otherID} {
		addSource(t, s, "default", id, "talk")
		for i := range 3 {
			node := tree.NodeID(id, 0, i)
			clipOf(t, s, "default", node, saveFrames(t, s, "default", node, fmt.Sprint(id, i, "a"), fmt.Sprint(id, i, "b")))
		}
	}
	_ = s.Close()
	s = open(t, dir)
	var all sync.WaitGroup // a page asks for all at once
	for _, id := range []string{sourceID, otherID} {
		for i := range 3 {
			all.Go(func() { wantFrame(t, s, "default", fmt.Sprint(id, i, "b")) })
		}
	}
	all.Wait()
	for _, id := range []string{"", "../../version", "abc", tree.FrameID([]byte("nobody"))} {
		if _, err := s.Frame(t.Context(), "default", id); !errors.Is(err, ErrNotFound) {
			t.Errorf("frame %q: %v", id, err)
		}
	}
}

func TestPictureThatTwoSourcesShareOutlivesOne(t *testing.T) {
	s := open(t, t.TempDir())
	for _, id := range []string{sourceID, otherID} {
		addSource(t, s, "default", id, "talk")
		node := tree.NodeID(id, 0, 0)
		clipOf(t, s, "default", node, saveFrames(t, s, "default", node, "black", "own "+id))
	}
	if err := s.DeleteSource(t.Context(), "default", otherID); err != nil {
		t.Fatal(err)
	}
	wantFrame(t, s, "default", "black")
	if _, err := s.Frame(t.Context(), "default", tree.FrameID([]byte("own "+otherID))); !errors.Is(err, ErrNotFound) {
		t.Errorf("a deleted picture: %v", err)
	}
}

func TestFramesOfAClipAreReplaced(t *testing.T) {
	s := open(t, t.TempDir())
	addSource(t, s, "default", sourceID, "talk")
	node := tree.NodeID(sourceID, 0, 0)
	saveFrames(t, s, "default", node, "one", "two", "three")
	saveFrames(t, s, "default", node, "three", "four")
	wantFrame(t, s, "default", "three")
	wantFrame(t, s, "default", "four")
	if _, err := s.Frame(t.Context(), "default", tree.FrameID([]byte("one"))); !errors.Is(err, ErrNotFound) {
		t.Errorf("a replaced picture: %v", err)
	}
}

func TestFrameOfAnotherTenantIsNotReachedThroughAMadeUpTree(t *testing.T) {
	s := open(t, t.TempDir())
	addSource(t, s, "victim", sourceID, "secret")
	secret := saveFrames(t, s, "victim", tree.NodeID(sourceID, 0, 0), "secret picture")
	addSource(t, s, "thief", otherID, "imported")
	clipOf(t, s, "thief", tree.NodeID(otherID, 0, 0), secret)
	if got, err := s.Frame(t.Context(), "thief", secret[0].ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, blob := range []string{"content/victim/x", "frames/thief/" + otherID + "/../../victim/" + sourceID + "/0.0"} {
		bad := secret[0]
		bad.Blob = blob
		s.frames.tenants = nil
		clipOf(t, s, "thief", tree.NodeID(otherID, 0, 0), []tree.FrameRef{bad})
		if got, err := s.Frame(t.Context(), "thief", secret[0].ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("through %s: %q, %v", blob, got, err)
		}
	}
}
