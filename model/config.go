package model

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// Config is one model behind one OpenAI-style address.
type Config struct {
	URL   string // base address; without a path "/v1" is added
	Model string // name the endpoint knows the model by
	Key   Secret // zero: no Authorization header
	Role  string // what it is for, as its errors name it: "vision"; empty = the kind of call, such as "chat"

	Concurrency int           // requests at once; 0 = 16
	Retries     int           // further tries after a failure that may pass; 0 = 3, negative = none
	Backoff     time.Duration // first wait between tries, doubled each time, with jitter; 0 = 500 ms

	Connect       time.Duration // until a connection stands; 0 = 10 s
	FirstToken    time.Duration // until the first token, or the whole reply where nothing streams; 0 = 2 min
	BetweenTokens time.Duration // between two tokens; 0 = 30 s
	Total         time.Duration // a whole call with its retries, from the moment a slot is free; 0 = 10 min

	MaxReply int64 // bytes of a reply after decompression; 0 = 16 MiB

	// Prices in any currency per million tokens; 0 = unknown.
	PriceIn, PriceOut float64

	Dim   int // embeddings: expected dimension; 0 = that of the first reply
	Batch int // embeddings: texts per request; 0 = 64

	Log *slog.Logger // nil: silent
}

// withDefaults fills zero values and checks the address.
func (c Config) withDefaults() (Config, string, error) {
	c.Concurrency = max(1, cmp.Or(c.Concurrency, 16))
	c.Retries = max(0, cmp.Or(c.Retries, 3))
	c.Backoff = cmp.Or(c.Backoff, 500*time.Millisecond)
	c.Connect = cmp.Or(c.Connect, 10*time.Second)
	c.FirstToken = cmp.Or(c.FirstToken, 2*time.Minute)
	c.BetweenTokens = cmp.Or(c.BetweenTokens, 30*time.Second)
	c.Total = cmp.Or(c.Total, 10*time.Minute)
	c.MaxReply = cmp.Or(c.MaxReply, 16<<20)
	c.Batch = max(1, cmp.Or(c.Batch, 64))
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	base, host, err := baseAddress(c.URL)
	c.URL = base
	if err == nil && c.Model == "" {
		err = fmt.Errorf("no model is named for the address at %s; set the name the endpoint knows it by", host)
	}
	return c, host, err
}

// Cost is the price of a call, 0 where no prices are set.
func (c Config) Cost(tokensIn, tokensOut int) float64 {
	return (float64(tokensIn)*c.PriceIn + float64(tokensOut)*c.PriceOut) / 1e6
}

// baseAddress accepts what people paste: with or without /v1, or the full
// address of one call. A query would be lost on the way, so it is refused.
func baseAddress(address string) (base, host string, err error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The parser's error would repeat the address with a password in it.
		return "", "", fmt.Errorf("model address is not of the form http://HOST:PORT/v1")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", "", fmt.Errorf("model address at %s holds a user name, query or fragment; give the key by its own setting", u.Host)
	}
	path := strings.TrimRight(u.Path, "/")
	for _, call := range []string{"/chat/completions", "/embeddings", "/audio/transcriptions", "/models"} {
		path = strings.TrimSuffix(path, call)
	}
	if path == "" {
		path = "/v1"
	}
	return u.Scheme + "://" + u.Host + path, u.Host, nil
}
