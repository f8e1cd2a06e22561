package connector

import (
	"context"
	"strings"

	"tandem/internal/connector/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// bindName says what a connector's name stands for now: its address or program, and the digest of the tools that a person accepted.
func (r *Room) bindName(ctx context.Context, name string) ([]op.Bound, error) {
	c, err := r.Load(ctx, op.CallerFrom(ctx).Tenant, name)
	if err != nil {
		return nil, err
	}
	return []op.Bound{{Name: "connector " + name, Value: meaning(c)}}, nil
}

func (r *Room) bindIt(ctx context.Context, in wire.NameIn) ([]op.Bound, error) {
	return r.bindName(ctx, in.Name)
}

func meaning(c *wire.Connector) string {
	where := c.URL
	if len(c.Command) > 0 {
		where = strings.Join(c.Command, " ") + given(c)
	}
	if c.Accepted != "" {
		where += ", tools accepted as " + c.Accepted
	}
	return where
}

// given says what a program has of this machine; the values of its secrets are in nobody's ask.
func given(c *wire.Connector) (said string) {
	if c.Folder != "" {
		said = " in " + c.Folder
		if c.Write {
			said += ", which it may change"
		}
	}
	for _, kv := range c.Env {
		said += ", with " + kv
	}
	if len(c.Secrets) > 0 {
		said += ", with sealed " + strings.Join(c.Secrets, ", ")
	}
	return said
}

// same refuses a call at a connector that is not the one that was approved any more.
func same(ctx context.Context, c *wire.Connector) error {
	if was, asked := op.BoundIn(ctx, "connector "+c.Name); asked && was != meaning(c) {
		return fault.New(fault.Conflict, "connector.call", "the connector %s is not what was approved any more", c.Name).
			WithNext("repeat the call to ask again")
	}
	return nil
}
