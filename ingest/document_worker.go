package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// readers are the formats that are read in the child, by the name a request uses.
var readers = map[string]func(context.Context, *io.SectionReader, *blockSink) error{
	formatHTML:   readHTML,
	formatTable:  readTable,
	formatPDF:    readPDF,
	formatPacked: readPacked,
}

// blockBatch is about how many bytes of blocks go into one message.
const blockBatch = 48 << 10

// document reads the file as a document and sends its blocks, then its facts.
func (j *mediaJob) document(ctx context.Context) (err error) {
	read := readers[j.req.Document]
	if read == nil {
		return fmt.Errorf("bad request: document format %q", j.req.Document)
	}
	var batch []Block
	size := 0
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := j.out.sendJSON(mediaMsgBlocks, batch)
		batch, size = batch[:0], 0
		return err
	}
	sink := &blockSink{alive: func() { j.beat.Add(1) }, emit: func(b Block) error {
		j.beat.Add(1)
		batch = append(batch, b)
		size += 32 + len(b.Text)
		for _, c := range b.Cells {
			size += len(c) + 4
		}
		if size >= blockBatch {
			return send()
		}
		return ctx.Err()
	}}
	defer func() { // a parser's panic is a broken document, not a broken worker
		if r := recover(); r != nil {
			err = refuseMedia("This document is damaged: reading it broke (%.80s); open it in its own program, save it again and hand that over.", fmt.Sprint(r))
		}
	}()
	if err = read(ctx, io.NewSectionReader(j.file, 0, j.size), sink); err == nil {
		err = errors.Join(sink.err, send())
	}
	if sink.err != nil {
		err = sink.err
	}
	if err != nil {
		return err
	}
	return j.out.sendJSON(mediaMsgText, sink.facts)
}

// Document hands the blocks of a document to sink, in reading order. format is
// one of those documentFormat gives for the child.
func (m Media) Document(ctx context.Context, file *os.File, format string, sink func(Block) error) (DocumentFacts, error) {
	var facts *DocumentFacts
	count, bytes := 0, 0
	take := func(body []byte) error {
		var batch []Block
		if err := json.Unmarshal(body, &batch); err != nil {
			return fmt.Errorf("%w: blocks: %w", errMediaGarbage, err)
		}
		if count, bytes = count+len(batch), bytes+len(body); count > maxBlocks || bytes > 2*maxUnpacked {
			return fmt.Errorf("%w: more than is read", errMediaGarbage)
		}
		for i := range batch {
			if what := batch[i].check(); what != "" {
				return fmt.Errorf("%w: a block with an impossible %s", errMediaGarbage, what)
			}
			if err := sink(batch[i]); err != nil {
				return err
			}
		}
		return nil
	}
	err := m.run(ctx, file, MediaRequest{Mode: mediaDocumentMode, Document: format}, func(kind byte, body []byte) error {
		switch kind {
		case mediaMsgBlocks:
			return take(body)
		case mediaMsgText:
			facts = &DocumentFacts{}
			if err := json.Unmarshal(body, facts); err != nil {
				return fmt.Errorf("%w: %w", errMediaGarbage, err)
			}
			facts.clean()
			return nil
		}
		return fmt.Errorf("%w: kind %q while reading a document", errMediaGarbage, kind)
	})
	if err == nil && facts == nil {
		err = fmt.Errorf("%w: no facts", errMediaGarbage)
	}
	if err != nil {
		return DocumentFacts{}, err
	}
	return *facts, nil
}

func (f *DocumentFacts) clean() {
	for _, s := range []*string{&f.Title, &f.Language, &f.Encoding} {
		cleanMediaText(s)
	}
	f.Warnings = f.Warnings[:min(len(f.Warnings), 100)]
	for i := range f.Warnings {
		cleanMediaText(&f.Warnings[i])
	}
}
