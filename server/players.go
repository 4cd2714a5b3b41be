package server

import (
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// States of a rendition.
const (
	RenditionNone   = "none"   // the medium plays as it is
	RenditionMaking = "making" // ask again
	RenditionReady  = "ready"
	RenditionFailed = "failed" // the reason says why; the next request tries again
)

// rendition says what a player should play.
type rendition struct {
	State string `json:"state"`
	Media string `json:"media,omitempty"` // address, once there is something to play
	Error string `json:"error,omitempty"`
}

// players refuses where nothing can be made for a player.
func (s *Server) players(r *http.Request, tenant string, kinds ...tree.Kind) (tree.Source, Players, error) {
	src, err := s.source(r, tenant)
	if err != nil {
		return src, nil, err
	}
	for _, k := range kinds {
		if s.cfg.Players != nil && src.Kind == k {
			return src, s.cfg.Players, nil
		}
	}
	return src, nil, newError(codeNoContent, "this source has nothing of the kind: only videos and recordings are played")
}

// getRendition starts making an MP4 of a medium that browsers do not play, and
// tells how far it is.
func (s *Server) getRendition(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, players, err := s.players(r, tenant, tree.KindVideo, tree.KindAudio)
	if err != nil {
		return err
	}
	state, reason, err := players.Rendition(r.Context(), tenant, src.ID)
	if err != nil {
		return err
	}
	out := rendition{State: state, Error: reason}
	switch state {
	case RenditionNone:
		out.Media = "/v1/sources/" + src.ID + "/media"
	case RenditionReady:
		out.Media = "/v1/sources/" + src.ID + "/rendition.mp4"
	}
	reply(w, http.StatusOK, out)
	return nil
}

func (s *Server) getRenditionFile(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, players, err := s.players(r, tenant, tree.KindVideo, tree.KindAudio)
	if err != nil {
		return err
	}
	f, err := players.OpenRendition(r.Context(), tenant, src.ID)
	if err != nil {
		return err
	}
	return serveDerived(w, r, f, "video/mp4", "no-cache")
}

// getPeaks serves the waveform of a medium's sound.
func (s *Server) getPeaks(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, players, err := s.players(r, tenant, tree.KindVideo, tree.KindAudio)
	if err != nil {
		return err
	}
	f, err := players.Peaks(r.Context(), tenant, src.ID)
	if err != nil {
		return err
	}
	return serveDerived(w, r, f, "application/json", "no-cache")
}

// getSprites serves the index of the seek previews, a WebVTT file.
func (s *Server) getSprites(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, players, err := s.players(r, tenant, tree.KindVideo)
	if err != nil {
		return err
	}
	f, err := players.Sprites(r.Context(), tenant, src.ID)
	if err != nil {
		return err
	}
	return serveDerived(w, r, f, "text/vtt; charset=utf-8", "no-cache")
}

// getSheet serves a sheet of previews; its name stands for its content.
func (s *Server) getSheet(w http.ResponseWriter, r *http.Request, tenant string) error {
	name, isJPEG := strings.CutSuffix(r.PathValue("file"), ".jpg")
	if !isJPEG {
		return newError(codeNoFrame, "%s", notFoundSentence(codeNoFrame))
	}
	src, players, err := s.players(r, tenant, tree.KindVideo)
	if err != nil {
		return err
	}
	f, err := players.Sheet(r.Context(), tenant, src.ID, name)
	if err != nil {
		return err
	}
	return serveDerived(w, r, f, "image/jpeg", "private, max-age=31536000, immutable")
}

// serveDerived sends a file with ranges and closes it.
func serveDerived(w http.ResponseWriter, r *http.Request, f *os.File, mimeType, cache string) error {
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mimeType)
	w.Header().Set("Cache-Control", cache)
	modified := time.Time{}
	if cache == "no-cache" {
		modified = info.ModTime()
	}
	http.ServeContent(w, r, "", modified, f)
	return nil
}
