package testkit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strings"
)

// parseChat reads the request as a strict server would: a part it does not
// know is an error.
func parseChat(c *Call) error {
	var w struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		MaxTokens  int `json:"max_tokens"`
		Completion int `json:"max_completion_tokens"`
		Format     *struct {
			Type       string `json:"type"`
			JSONSchema *struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(c.Body, &w); err != nil {
		return err
	}
	c.Model, c.Stream, c.MaxTokens = w.Model, w.Stream, max(w.MaxTokens, w.Completion)
	if w.Format != nil {
		c.Format = w.Format.Type
		if w.Format.JSONSchema != nil {
			c.Schema = w.Format.JSONSchema.Schema
		}
	}
	if len(w.Messages) == 0 {
		return fmt.Errorf("messages is empty")
	}
	for _, m := range w.Messages {
		text, images, err := parseContent(m.Content)
		if err != nil {
			return err
		}
		c.Images = append(c.Images, images...)
		if m.Role == "system" {
			c.System = join(c.System, text)
		} else {
			c.Prompt = join(c.Prompt, text)
		}
	}
	return nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// parseContent reads a text or a list of text and picture parts.
func parseContent(raw json.RawMessage) (text string, images [][]byte, err error) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil, nil
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", nil, fmt.Errorf("content is neither text nor parts")
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			text = join(text, p.Text)
		case "image_url":
			data, ok := strings.CutPrefix(p.ImageURL.URL, "data:image/jpeg;base64,")
			jpeg, err := base64.StdEncoding.DecodeString(data)
			if !ok || err != nil || !bytes.HasPrefix(jpeg, []byte{0xFF, 0xD8}) {
				return "", nil, fmt.Errorf("image_url is no JPEG data address")
			}
			images = append(images, jpeg)
		default:
			return "", nil, fmt.Errorf("unknown content part %q", p.Type)
		}
	}
	return text, images, nil
}

func parseEmbeddings(c *Call) error {
	var w struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(c.Body, &w); err != nil {
		return err
	}
	c.Model = w.Model
	var one string
	if json.Unmarshal(w.Input, &one) == nil {
		c.Inputs = []string{one}
		return nil
	}
	if err := json.Unmarshal(w.Input, &c.Inputs); err != nil || len(c.Inputs) == 0 {
		return fmt.Errorf("input is no list of texts")
	}
	return nil
}

func parseAudio(c *Call) error {
	_, params, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	form := multipart.NewReader(bytes.NewReader(c.Body), params["boundary"])
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		switch part.FormName() {
		case "file":
			c.Audio = data
		case "model":
			c.Model = string(data)
		case "language":
			c.Language = string(data)
		case "response_format":
			c.Format = string(data)
		}
	}
	if len(c.Audio) == 0 {
		return fmt.Errorf("file is missing")
	}
	return nil
}
