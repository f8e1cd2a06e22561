package book

import (
	"context"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/policy"
)

// Case is a question about somebody: may this actor do that?
type Case struct {
	Actor    string   `json:"actor,omitempty" jsonschema:"the actor's name; yourself when left out"`
	Op       string   `json:"op,omitempty" jsonschema:"an operation, e.g. resource.put"`
	Right    string   `json:"right,omitempty" jsonschema:"a right instead of an operation, e.g. folder.write"`
	Resource string   `json:"resource,omitempty" jsonschema:"what it touches, as kind:/path or /path"`
	Class    string   `json:"class,omitempty" jsonschema:"the data's class; what the resource is labelled with unless told"`
	Tool     string   `json:"tool,omitempty" jsonschema:"the tool that is called, e.g. bash"`
	Paths    []string `json:"paths,omitempty" jsonschema:"paths that the tool's call touches"`
	Command  string   `json:"command,omitempty" jsonschema:"the shell line that the tool's call runs"`
	Hosts    []string `json:"hosts,omitempty" jsonschema:"hosts that the tool's call speaks to"`
	Present  bool     `json:"present,omitempty" jsonschema:"suppose that a person is present"`
	Want     string   `json:"want,omitempty" jsonschema:"allow, ask or deny: what the answer should be"`
}

// request turns a case into a question for the policy.
func (b *Book) request(c Case, now time.Time) (policy.Request, error) {
	r := policy.Request{Right: c.Right, Op: c.Op, Class: policy.DataClass(c.Class), Tool: c.Tool, Present: c.Present, Now: now}
	if c.Op != "" && r.Right == "" {
		wants, ok := b.wants(c.Op)
		if !ok {
			return r, fault.New(fault.Invalid, "policy.explain", "there is no operation %s", c.Op).WithNext("the API names them all: /openapi.json")
		}
		r.Right = wants.Right
	}
	if r.Right == "" && c.Tool != "" {
		r.Right = "tool.call"
	}
	right, err := policy.ParseRight(r.Right)
	if err != nil {
		return r, fault.New(fault.Invalid, "policy.explain", "%v", err).WithNext("name an operation, or a right such as folder.write")
	}
	switch {
	case c.Resource == "" && c.Tool != "" && right.Kind == policy.KindTool:
		r.Resource = policy.ToolRef(c.Tool)
	case c.Resource == "":
		r.Resource = policy.ResourceRef{Kind: right.Kind, Path: "/"}
	case strings.HasPrefix(c.Resource, "/"):
		r.Resource = policy.ResourceRef{Kind: right.Kind, Path: c.Resource}
	default:
		if r.Resource, err = policy.ParseResource(c.Resource); err != nil {
			return r, refusal("policy.explain", err)
		}
	}
	if c.Tool != "" {
		r.Facts = policy.TouchFacts(policy.Facts{Paths: c.Paths, Hosts: c.Hosts}, c.Command)
	}
	return r, nil
}

// view is what a named actor may do under a policy.
func (b *Book) view(ctx context.Context, c *policy.Compiled, tenant, actor string, now time.Time) (*policy.View, policy.PrincipalRef,
	error) {
	ref, chain, err := b.who(ctx, tenant, actor)
	if err != nil {
		return nil, ref, err
	}
	who := policy.StrictTenantContext{Tenant: tenant, Principal: ref, AuthorityChain: chain}
	if who.Narrowed, err = b.narrowings(ctx, tenant, chain); err != nil { // a view is kept
		return nil, ref, err
	}
	return c.View(who, now), ref, nil
}
