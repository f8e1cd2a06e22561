// Package local is a provider.Model that needs no key, no network and no weights: `echo-1` repeats the newest prompt.
// It is the default on a fresh machine, so that every path from a prompt to a streamed reply can be seen working
// before anybody configures a provider. The same request always gives the same reply. It refuses other model names,
// and never asks for a tool.
package local

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/provider"
)

// Name is the one model here.
const Name = "echo-1"

// Model is a provider.Model.
type Model struct{}

var _ provider.Model = Model{}

// Stream answers with the newest text of the user, word by word.
func (Model) Stream(ctx context.Context, r provider.Request, emit func(provider.Part)) (provider.Reply, error) {
	if emit == nil {
		emit = func(provider.Part) {}
	}
	if r.Model != Name {
		return provider.Reply{}, &provider.Error{Failure: provider.UnknownModel, Message: fmt.Sprintf("local has %s, not %q", Name, r.Model)}
	}
	if len(r.Messages) == 0 {
		return provider.Reply{}, &provider.Error{Failure: provider.Rejected, Message: "there is no message to answer"}
	}
	text := reply(r.Messages)
	out := provider.Reply{Model: Name}
	var in int64
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			in += words(b.Text)
		}
	}
	out.Usage = provider.Usage{Input: in + words(r.System)}
	limit := int64(r.MaxTokens)
	var said strings.Builder
	for piece := range strings.SplitAfterSeq(text, " ") {
		if err := context.Cause(ctx); err != nil {
			return out, err
		}
		if limit > 0 && out.Usage.Output == limit {
			out.Stop = provider.StopLength
			break
		}
		out.Usage.Output++
		said.WriteString(piece)
		emit(provider.Part{Kind: provider.Text, Delta: piece})
	}
	b := provider.Block{Kind: provider.Text, Text: said.String()}
	out.Blocks = []provider.Block{b}
	emit(provider.Part{Kind: provider.Text, Done: &b})
	if out.Stop == "" {
		out.Stop = provider.StopEnd
	}
	return out, nil
}

// List names the one model.
func (Model) List(context.Context) ([]provider.Info, error) {
	return []provider.Info{{ID: Name, Name: "Echo (no key needed)"}}, nil
}

func reply(ms []provider.Message) string {
	var said []string
	images := 0
	for _, b := range ms[len(ms)-1].Blocks {
		switch b.Kind {
		case provider.Text:
			said = append(said, b.Text)
		case provider.ImageKind:
			images++
		}
	}
	text := "echo: " + strings.Join(said, "\n")
	if images > 0 {
		text += fmt.Sprintf(" (and %d images)", images)
	}
	return text
}

// words counts tokens the way this model sees them.
func words(s string) int64 { return int64(len(strings.Fields(s))) }
