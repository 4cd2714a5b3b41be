package library

import (
	"encoding/base32"
	"slices"
	"strings"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// frameIndex finds a frame by its public id within a tenant. It is filled as
// frames are saved, and from the trees of a tenant at the first miss. One frame
// costs about 150 bytes.
type frameIndex struct {
	loading sync.Mutex // held by whoever reads trees into the index
	mu      sync.Mutex
	tenants map[string]*tenantFrames
}

type tenantFrames struct {
	places map[frameHash][]place
	packs  map[string][]frameHash // what a blob holds
	loaded map[string]bool        // sources whose tree was read
}

// frameHash is a public frame id in binary.
type frameHash [32]byte

// place is where a frame lies.
type place struct {
	pack           string
	offset, length int64
}

var frameEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func hashOf(id string) (h frameHash, ok bool) {
	if frameEncoding.DecodedLen(len(id)) != len(h) {
		return h, false
	}
	_, err := frameEncoding.Decode(h[:], []byte(id))
	return h, err == nil
}

// of gives the frames of a tenant; mu is held.
func (x *frameIndex) of(tenant string) *tenantFrames {
	if x.tenants == nil {
		x.tenants = map[string]*tenantFrames{}
	}
	if x.tenants[tenant] == nil {
		x.tenants[tenant] = &tenantFrames{places: map[frameHash][]place{}, packs: map[string][]frameHash{}, loaded: map[string]bool{}}
	}
	return x.tenants[tenant]
}

func (x *frameIndex) find(tenant, id string) []place {
	x.mu.Lock()
	defer x.mu.Unlock()
	h, ok := hashOf(id)
	if !ok {
		return nil
	}
	return slices.Clone(x.of(tenant).places[h])
}

func (x *frameIndex) has(tenant, source string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.of(tenant).loaded[source]
}

func (x *frameIndex) add(tenant string, refs ...tree.FrameRef) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.of(tenant)
	for _, r := range refs {
		t.add(r)
	}
}

func (t *tenantFrames) add(r tree.FrameRef) {
	h, ok := hashOf(r.ID)
	if !ok {
		return
	}
	p := place{r.Blob, r.Offset, r.Length}
	if slices.Contains(t.places[h], p) {
		return
	}
	t.places[h] = append(t.places[h], p)
	t.packs[r.Blob] = append(t.packs[r.Blob], h)
}

// addTree takes in the frames a tree names. A tree may come from a file someone
// made up: only blobs of its own source are believed.
func (x *frameIndex) addTree(tenant string, tr *tree.Tree) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, own := x.of(tenant), blobKey("frames", tenant, tr.Source.ID)+"/"
	t.loaded[tr.Source.ID] = true
	for _, root := range tr.Roots {
		root.Leaves(func(l *tree.Node) {
			f := l.Evidence.Frame
			if f == nil || f.Offset < 0 || f.Length <= 0 || !strings.HasPrefix(f.Blob, own) || strings.Contains(f.Blob[len(own):], "/") {
				return
			}
			t.add(*f)
		})
	}
}

// forgetPack drops the frames of one blob.
func (x *frameIndex) forgetPack(tenant, pack string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.of(tenant).forgetPack(pack)
}

func (t *tenantFrames) forgetPack(pack string) {
	for _, h := range t.packs[pack] {
		left := slices.DeleteFunc(t.places[h], func(p place) bool { return p.pack == pack })
		if t.places[h] = left; len(left) == 0 {
			delete(t.places, h)
		}
	}
	delete(t.packs, pack)
}

// forget drops a source's frames, so that a deleted picture is not found.
func (x *frameIndex) forget(tenant, source string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, own := x.of(tenant), blobKey("frames", tenant, source)+"/"
	for pack := range t.packs {
		if strings.HasPrefix(pack, own) {
			t.forgetPack(pack)
		}
	}
	delete(t.loaded, source)
}
