package models

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"tandem/internal/provider"
)

// echoing is a provider that says what it likes, in pieces of its choice.
type echoing struct {
	say   string
	piece int
	err   error
}

func (e echoing) List(context.Context) ([]provider.Info, error) {
	return []provider.Info{{ID: "m-" + e.say, Name: e.say}}, e.err
}

func (e echoing) Stream(_ context.Context, _ provider.Request, emit func(provider.Part)) (provider.Reply, error) {
	args, _ := json.Marshal(map[string]string{"command": e.say})
	blocks := []provider.Block{{Kind: provider.Text, Text: e.say}, {Kind: provider.Reasoning, Text: e.say, Raw: args},
		{Kind: provider.CallKind, Call: &provider.Call{ID: "c", Name: "bash", Args: args}}}
	for i, b := range blocks {
		text := b.Text
		if b.Call != nil {
			text = string(args)
			emit(provider.Part{Index: i, Kind: b.Kind, Call: &provider.Call{ID: "c", Name: "bash"}})
		}
		for len(text) > 0 {
			n := min(e.piece, len(text))
			emit(provider.Part{Index: i, Kind: b.Kind, Delta: text[:n]})
			text = text[n:]
		}
		if e.err == nil {
			emit(provider.Part{Index: i, Kind: b.Kind, Done: &b})
		}
	}
	return provider.Reply{ID: "r", Blocks: blocks, Stop: provider.StopEnd}, e.err
}

// Whoever answers at a provider's address knows its key. It comes back in no spelling, in whatever pieces it is said, and what it stands
// among comes whole.
func TestAProvidersKeyDoesNotComeBack(t *testing.T) {
	const key = `sk-ant-é9/+"0123456789abcdef`
	spelled, _ := json.Marshal(key)
	for name, form := range map[string]string{"as lent": key, "base64": base64.StdEncoding.EncodeToString([]byte("x" + key)),
		"base64 of addresses": base64.RawURLEncoding.EncodeToString([]byte(key)), "an address": url.QueryEscape(key),
		"JSON": string(spelled[1 : len(spelled)-1])} {
		for _, piece := range []int{1, 3, 7, 1 << 10} {
			said := "grün, " + form + ", ende é"
			var parts [3]strings.Builder
			var done int
			reply, err := withoutKey(echoing{say: said, piece: piece}, key).Stream(t.Context(), provider.Request{}, func(p provider.Part) {
				if p.Done != nil {
					done++
					p.Delta = p.Done.Text
					if p.Done.Call != nil {
						p.Delta = string(p.Done.Call.Args)
					}
					if p.Delta != parts[p.Index].String() && p.Done.Call == nil {
						t.Errorf("%s in pieces of %d: the block is %q, its parts are %q", name, piece, p.Delta, parts[p.Index].String())
					}
					return
				}
				if strings.ToValidUTF8(p.Delta, "!") != p.Delta && piece > 1<<9 {
					t.Errorf("%s: half a character: %q", name, p.Delta)
				}
				parts[p.Index].WriteString(p.Delta)
			})
			all := fmt.Sprint(parts[0].String(), parts[1].String(), parts[2].String())
			for _, b := range reply.Blocks {
				all += b.Text + string(b.Raw)
				if b.Call != nil {
					all += string(b.Call.Args)
				}
			}
			if err != nil || done != 3 || strings.Contains(all, form) || strings.Contains(all, key) || strings.Contains(all, "0123456789abcdef") {
				t.Errorf("%s in pieces of %d: %d blocks, %s, %v", name, piece, done, all, err)
			}
			if want := "grün, "; !strings.HasPrefix(parts[0].String(), want) || !strings.HasSuffix(parts[0].String(), ", ende é") {
				t.Errorf("%s in pieces of %d: what it stands among is %q", name, piece, parts[0].String())
			}
		}
	}
	cut := &provider.Error{Failure: provider.RateLimited, Message: "no more for " + key, RequestID: key, Err: errors.New("with " + key)}
	var said [3]strings.Builder
	_, err := withoutKey(echoing{say: "so far", piece: 2, err: cut}, key).Stream(t.Context(), provider.Request{},
		func(p provider.Part) { said[p.Index].WriteString(p.Delta) })
	if provider.FailureOf(err) != provider.RateLimited || strings.Contains(fmt.Sprintf("%v %+v", err, errors.Unwrap(err)), key) {
		t.Errorf("why it failed: %v", err)
	}
	if said[0].String() != "so far" || said[1].String() != "so far" {
		t.Errorf("what had come until then: %q, %q", said[0].String(), said[1].String())
	}
	if all, err := withoutKey(echoing{say: key}, key).List(t.Context()); err != nil || strings.Contains(fmt.Sprint(all), key) {
		t.Errorf("its models: %v %v", all, err)
	}
	if all, err := withoutKey(echoing{say: "m"}, "").List(t.Context()); err != nil || all[0].Name != "m" {
		t.Errorf("without a key: %v %v", all, err)
	}
}
