package main

import (
	"fmt"
	"testing"
	"time"

	"tandem/internal/policy"
)

// policyDecisions times the pure part of the gate.
func policyDecisions(int) (section, error) {
	s := section{title: "A policy decision", how: "An agent that acts for the local user, the default grants and 200 more. " +
		"Masking asks of 1,000 tools which of them the caller may use."}
	grants := policy.DefaultGrants()
	for i := range 200 {
		grants = append(grants, policy.ScopedGrant{ID: fmt.Sprintf("bench-%d", i),
			Principal:   policy.PrincipalRef{Kind: policy.Agent, ID: fmt.Sprintf("a%d", i%10)},
			Scope:       policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindFolder, Path: fmt.Sprintf("/p%d/src", i)}},
			Effect:      policy.Allow,
			Permissions: []policy.AccessPermission{policy.CanRead, policy.CanEdit}, DataClasses: []policy.DataClass{policy.Internal},
			Source: policy.Default})
	}
	compiled, err := policy.Compile(policy.Source{Tenant: "local", Grants: grants})
	if err != nil {
		return s, err
	}
	who := policy.StrictTenantContext{Tenant: "local", Principal: policy.PrincipalRef{Kind: policy.Agent, ID: "a1"},
		AuthorityChain: []policy.PrincipalRef{{Kind: policy.Local, ID: "local"}}}
	now := time.Now()
	view := compiled.View(who, now)
	ask := policy.Request{Right: "resource.write", Op: "resource.put",
		Resource: policy.ResourceRef{Kind: policy.KindResource, Path: "/lock/deploy"}, Now: now}
	if d := view.Decide(ask); d.Effect != policy.Allow {
		return s, fmt.Errorf("the measured decision should be allow: %+v", d)
	}
	decide := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			view.Decide(ask)
		}
	})
	tools := make([]policy.ResourceRef, 1000)
	for i := range tools {
		tools[i] = policy.ToolRef(fmt.Sprintf("mcp.server%d.tool%d", i%20, i))
	}
	mask := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			v := compiled.View(who, now)
			for _, t := range tools {
				v.May(policy.CanExecute, t)
			}
		}
	})
	s.figures = []figure{
		{what: "one decision", value: fmt.Sprintf("%d ns, %d allocations", decide.NsPerOp(), decide.AllocsPerOp())},
		{what: "masking 1,000 tools for a new caller", value: fmt.Sprintf("%.2f ms", float64(mask.NsPerOp())/1e6)},
	}
	return s, nil
}
