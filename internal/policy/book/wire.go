package book

import (
	"time"

	"tandem/internal/policy"
)

// GrantView is a grant as people and programs read it.
type GrantView struct {
	ID          string                    `json:"id"`
	Principal   string                    `json:"principal"`
	Effect      string                    `json:"effect"`
	Resource    string                    `json:"resource" jsonschema:"the tree it covers, as kind:/path"`
	Written     string                    `json:"written,omitempty" jsonschema:"the path as it was written, where links in it led to the resource"`
	Permissions []policy.AccessPermission `json:"permissions"`
	Classes     []policy.DataClass        `json:"data_classes,omitempty"`
	Tools       []string                  `json:"tool_patterns,omitempty"`
	Approvers   []string                  `json:"approvers,omitempty"`
	MaxDepth    *int                      `json:"max_depth,omitempty"`
	Only        []string                  `json:"only,omitempty"`
	Except      []string                  `json:"except,omitempty"`
	Source      string                    `json:"source" jsonschema:"direct, delegation, default or fallback"`
	From        string                    `json:"from,omitempty" jsonschema:"the grant it was passed on from"`
	Redelegate  int                       `json:"redelegate,omitempty"`
	ExpiresAt   *time.Time                `json:"expires_at,omitempty"`
	AddedBy     string                    `json:"added_by,omitempty"`
	AddedAt     *time.Time                `json:"added_at,omitempty"`
	RevokedBy   string                    `json:"revoked_by,omitempty"`
	RevokedAt   *time.Time                `json:"revoked_at,omitempty"`
	Dead        string                    `json:"dead,omitempty" jsonschema:"why it gives nothing, when it does not"`
	Note        string                    `json:"note,omitempty"`
}

func (g *Grant) view(dead string) GrantView {
	v := GrantView{ID: g.ID, Principal: g.Principal.String(), Effect: g.Effect.String(), Resource: g.Scope.Root.String(),
		Written: g.Scope.Root.Written, Permissions: g.Permissions, Classes: g.DataClasses, Tools: g.ToolPatterns, Approvers: names(g.Approvers),
		MaxDepth: g.Scope.MaxDepth, Only: g.Scope.Only, Source: string(g.Source),
		From: g.DelegationID, Redelegate: g.Redelegate, AddedBy: g.AddedBy, AddedAt: g.AddedAt, RevokedBy: g.RevokedBy, RevokedAt: g.RevokedAt,
		Dead: dead, Note: g.Note}
	for _, r := range g.Scope.Denied {
		v.Except = append(v.Except, r.String())
	}
	if !g.ExpiresAt.IsZero() {
		end := g.ExpiresAt.UTC()
		v.ExpiresAt = &end
	}
	return v
}

// Answer is a decision as people and programs read it.
type Answer struct {
	Effect    string   `json:"effect" jsonschema:"allow, ask or deny"`
	Code      string   `json:"code" jsonschema:"one word for programs"`
	Reason    string   `json:"reason"`
	By        string   `json:"by,omitempty" jsonschema:"the grant or rule that decides"`
	Approvers []string `json:"approvers,omitempty" jsonschema:"who may answer an ask"`
	policy.Needs
}

func answer(d policy.Decision) Answer {
	return Answer{Effect: d.Effect.String(), Code: d.Code, Reason: d.Reason, By: d.By, Approvers: names(d.Approvers), Needs: d.Needs}
}

// Step is one grant or rule that spoke.
type Step struct {
	Principal string `json:"principal" jsonschema:"for whom of the actor's chain it spoke"`
	By        string `json:"by"`
	Effect    string `json:"effect"`
	Note      string `json:"note,omitempty"`
	Group     string `json:"group,omitempty" jsonschema:"the group by which a grant speaks of the principal"`
}

func names(list []policy.PrincipalRef) (out []string) {
	for _, p := range list {
		out = append(out, p.String())
	}
	return out
}
