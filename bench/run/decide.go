package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"tandem/internal/client"
)

// How many grants stand in the house while its decisions are measured, and how many agents come for the first time.
const standing, newcomers = 400, 200

// deciding is a read by an agent, which policy decides over a house with many grants: of one who was here before, of one who comes
// for the first time, or after a grant changed. What is done before the read does not count.
func deciding(before func(d *decider) (token string, err error)) func(s *side) (func() error, error) {
	return func(s *side) (func() error, error) {
		if s.decider == nil {
			if err := s.many(); err != nil {
				return nil, err
			}
		}
		return func() error {
			token, err := before(s.decider)
			if err != nil {
				return err
			}
			agent := &caller{base: s.p.url, http: s.c.http, token: token}
			began := time.Now()
			err = agent.do("resource.get", obj{"key": "bench/decided"}, nil)
			s.p.took = time.Since(began)
			return err
		}, nil
	}
}

// decider is a house with many grants, and agents who were not there yet.
type decider struct {
	present *client.Client
	tokens  []string
	next    int
	given   int
}

func (s *side) many() error {
	ctx := context.Background()
	d := &decider{present: client.Socket(filepath.Join(s.p.dir, "data", "tandem.sock")).WithPIN(benchPIN)}
	if err := s.c.do("resource.put", obj{"key": "bench/decided", "value": value}, nil); err != nil {
		return err
	}
	for i := range newcomers {
		name := fmt.Sprintf("decided%03d", i)
		var minted struct{ Secret string }
		if err := errors.Join(d.present.Call(ctx, "actor.add", obj{"name": name, "kind": "agent"}, nil),
			d.present.Call(ctx, "token.new", obj{"actor": name}, &minted)); err != nil {
			return err
		}
		d.tokens = append(d.tokens, minted.Secret)
	}
	for range standing {
		if err := d.give(); err != nil {
			return err
		}
	}
	s.decider = d
	warm := &caller{base: s.p.url, http: &http.Client{}, token: d.tokens[0]}
	return warm.do("resource.get", obj{"key": "bench/decided"}, nil)
}

// give gives some agent another grant.
func (d *decider) give() error {
	d.given++
	return d.present.Call(context.Background(), "grant.add", obj{"principal": fmt.Sprintf("agent:decided%03d", d.given%newcomers),
		"resource": fmt.Sprintf("resource:/decided/%d", d.given), "permissions": []string{"edit"}}, nil)
}

func (d *decider) warm() (string, error) { return d.tokens[0], nil }

func (d *decider) changed() (string, error) { return d.tokens[0], d.give() }

// newcomer comes once: there are as many of them as rounds can use.
func (d *decider) newcomer() (string, error) {
	if d.next++; d.next >= len(d.tokens) {
		return "", fmt.Errorf("all %d agents came: fewer rounds have enough of them", len(d.tokens))
	}
	return d.tokens[d.next], nil
}
