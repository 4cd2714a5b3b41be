package ingest

import (
	"net/url"
	"regexp"
	"strings"
)

// youTubeHosts are all hosts whose addresses may name a video. The library
// takes the first eleven fitting characters of any address of any host, so
// host and id are checked before it is called.
var youTubeHosts = map[string]bool{
	"youtube.com": true, "www.youtube.com": true, "m.youtube.com": true, "music.youtube.com": true,
	"youtu.be": true, "www.youtu.be": true, "youtube-nocookie.com": true, "www.youtube-nocookie.com": true,
}

var youTubeIDForm = regexp.MustCompile(`^[A-Za-z0-9_-]{11}$`)

func isYouTube(u *url.URL) bool {
	return youTubeHosts[strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))]
}

// youTubeID finds the video an address of YouTube names.
func youTubeID(u *url.URL) (string, error) {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	id := ""
	switch {
	case strings.HasSuffix(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), "youtu.be"):
		id = parts[0]
	case parts[0] == "watch":
		id = u.Query().Get("v")
	case len(parts) >= 2 && (parts[0] == "shorts" || parts[0] == "embed" || parts[0] == "live" || parts[0] == "v"):
		id = parts[1]
	case parts[0] == "playlist":
		return "", unfetchable("this address names a playlist of YouTube; give the address of one video")
	}
	if !youTubeIDForm.MatchString(id) {
		return "", unfetchable("this address of YouTube names no video; it must look like https://www.youtube.com/watch?v=ID with an id of 11 characters")
	}
	return id, nil
}
