package models

import (
	"context"
	"errors"
	"io"
	"strings"

	"tandem/internal/provider"
	"tandem/internal/secret"
)

// struck is a model whose key does not come back: whoever answers at its address knows the key, and what it answers is kept and shown.
type struck struct {
	provider.Model
	lent *secret.Redactor
}

// withoutKey has a key struck from all that a model answers.
func withoutKey(m provider.Model, key string) struck {
	lent := secret.NewRedactor()
	if key != "" {
		lent.Learn([]byte(key))
	}
	return struck{m, lent}
}

// Stream passes the parts on as they come. The end of one that may begin the key waits for what follows.
func (s struck) Stream(ctx context.Context, r provider.Request, emit func(provider.Part)) (provider.Reply, error) {
	var open []*part
	reply, err := s.Model.Stream(ctx, r, func(p provider.Part) {
		if emit == nil {
			return
		}
		var of *part
		for _, o := range open {
			if o.index == p.Index && o.kind == p.Kind {
				of = o
			}
		}
		if of == nil {
			of = &part{index: p.Index, kind: p.Kind}
			of.clean = s.lent.Writer(&of.text)
			open = append(open, of)
		}
		if p.Call != nil {
			call := s.call(*p.Call)
			p.Call = &call
		}
		if p.Delta = of.take(p.Delta, false); p.Done != nil {
			if rest := p.Delta + of.take("", true); rest != "" {
				emit(provider.Part{Index: p.Index, Kind: p.Kind, Delta: rest})
			}
			block := s.block(*p.Done)
			p.Delta, p.Done = "", &block
		}
		emit(p)
	})
	for _, of := range open {
		if rest := of.take("", true); rest != "" {
			emit(provider.Part{Index: of.index, Kind: of.kind, Delta: rest})
		}
	}
	for i, b := range reply.Blocks {
		reply.Blocks[i] = s.block(b)
	}
	reply.ID, reply.Model = s.lent.String(reply.ID), s.lent.String(reply.Model)
	return reply, s.failed(err)
}

// List names the models that this key may use.
func (s struck) List(ctx context.Context) ([]provider.Info, error) {
	all, err := s.Model.List(ctx)
	for i := range all {
		all[i].ID, all[i].Name = s.lent.String(all[i].ID), s.lent.String(all[i].Name)
	}
	return all, s.failed(err)
}

// failed is what went wrong, of the same kind.
func (s struck) failed(err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return s.lent.Error(err)
	}
	clean := *e
	clean.Message, clean.RequestID, clean.Err = s.lent.String(e.Message), s.lent.String(e.RequestID), s.lent.Error(e.Err)
	return &clean
}

func (s struck) block(b provider.Block) provider.Block {
	b.Text, b.Raw = s.lent.String(b.Text), s.lent.JSON(b.Raw)
	if b.Call != nil {
		call := s.call(*b.Call)
		b.Call = &call
	}
	if b.Image != nil {
		image := *b.Image
		image.URL = s.lent.String(image.URL)
		b.Image = &image
	}
	return b
}

func (s struck) call(c provider.Call) provider.Call {
	c.ID, c.Name, c.Args = s.lent.String(c.ID), s.lent.String(c.Name), s.lent.JSON(c.Args)
	return c
}

// part is a block that arrives.
type part struct {
	index int
	kind  provider.Kind
	text  strings.Builder // what came without the key
	clean io.WriteCloser
}

// take is what of a block may be passed on by now; at its end that is all.
func (p *part) take(delta string, end bool) string {
	_, _ = p.clean.Write([]byte(delta)) // into memory
	if end {
		_ = p.clean.Close()
	}
	out := p.text.String()
	p.text.Reset()
	return out
}
