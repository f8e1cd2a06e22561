package book

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// GroupIn puts members into a group, or takes them out.
type GroupIn struct {
	Name    string   `json:"name" jsonschema:"the group's name"`
	Members []string `json:"members" jsonschema:"people by name or as person:name, and groups as group:name"`
	Note    string   `json:"note,omitempty" jsonschema:"why, for the history"`
}

// GroupNameIn names a group.
type GroupNameIn struct {
	Name string `json:"name" jsonschema:"the group's name"`
}

// GroupsIn asks for groups.
type GroupsIn struct {
	After string `json:"after,omitempty" jsonschema:"only groups behind this name: the last of the page before"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 500 unless told, 1000 at most"`
}

// Nothing is an empty input.
type Nothing struct{}

// GroupView is a group as people read it.
type GroupView struct {
	Name    string   `json:"name"`
	Members []string `json:"members" jsonschema:"as they were put in: person:name or group:name"`
	People  []string `json:"people" jsonschema:"everybody who is in it, through other groups, too"`
}

// GroupsOut is a page of the groups, by name; the owners are always among them.
type GroupsOut struct {
	Version int64       `json:"version"`
	Groups  []GroupView `json:"groups"`
	More    bool        `json:"more,omitempty"`
}

// GroupOut is a group after a change. One without members is gone.
type GroupOut struct {
	Version int64 `json:"version"`
	GroupView
}

func (b *Book) groupOps() []op.Op {
	return []op.Op{
		GroupList.Read(op.Spec{Right: "policy.read", Method: "GET", Path: "/group",
			Doc: "List the groups of people, with everybody who is in each."},
			func(GroupsIn) op.Resource { return atPolicy() }, b.groups),
		GroupShow.Read(op.Spec{Right: "policy.read", Method: "GET", Path: "/group/{name}",
			Doc: "Show a group: its members, and everybody who is in it through other groups."},
			func(GroupNameIn) op.Resource { return atPolicy() }, b.group),
		GroupAdd.State(op.Spec{Right: "policy.edit", Method: "POST", Path: "/group/{name}", Present: true, People: true, MCP: "-",
			Doc: "Put people and groups into a group, which is made when there is none. A group cannot be in itself, and groups nest eight deep.\n" +
				"Needs a person present."},
			func(GroupIn) op.Resource { return atPolicy() }, b.addGroup),
		GroupRemove.State(op.Spec{Right: "policy.edit", Method: "DELETE", Path: "/group/{name}", Present: true, People: true, MCP: "-",
			Doc: "Take members out of a group, or the group away when none is named. Needs a person present."},
			func(GroupIn) op.Resource { return atPolicy() }, b.removeGroup),
	}
}

// Check refuses what is no group.
func (in GroupIn) Check() error {
	if len(in.Members) > maxListed {
		return fault.New(fault.Invalid, "group", "%d members at once are too many; %d are allowed", len(in.Members), maxListed)
	}
	return refusal("group", policy.CheckGroupName(in.Name))
}

const maxListed = 1000

// members reads them as people write them: a bare name is a person's.
func (in GroupIn) members() (out []policy.PrincipalRef, err error) {
	for _, s := range in.Members {
		if !strings.Contains(s, ":") {
			s = "person:" + s
		}
		p, err := policy.ParsePrincipal(s)
		if err == nil && p.Kind != policy.Person && p.Kind != policy.GroupOf {
			err = fault.New(fault.Invalid, "group", "%s cannot be in a group: its members are people and groups", s)
		}
		if err != nil {
			return nil, refusal("group", err)
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

func view(c *policy.Compiled, g policy.Group) GroupView {
	v := GroupView{Name: g.Name, Members: names(g.Members), People: c.People(g.Name)}
	if v.People == nil {
		v.People = []string{}
	}
	return v
}

func (b *Book) groups(ctx context.Context, in GroupsIn) (GroupsOut, error) {
	out := GroupsOut{Groups: []GroupView{}}
	limit, err := atMost(string(GroupList), in.Limit)
	if err != nil {
		return out, err
	}
	k, err := b.current(ctx, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return out, err
	}
	out.Version = k.Version()
	all := slices.Clone(policy.WithOwners(k.written.Groups))
	slices.SortFunc(all, func(x, y policy.Group) int { return strings.Compare(x.Name, y.Name) })
	for _, g := range all {
		if g.Name <= in.After {
			continue
		}
		if len(out.Groups) == limit {
			out.More = true
			break
		}
		out.Groups = append(out.Groups, view(k.Compiled, g))
	}
	return out, nil
}

func noGroup(name string) error {
	return fault.New(fault.NotFound, "group", "there is no group %.64q", name).WithNext("list them: tandem group list")
}

func (b *Book) group(ctx context.Context, in GroupNameIn) (GroupOut, error) {
	k, err := b.current(ctx, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return GroupOut{}, err
	}
	all := policy.WithOwners(k.written.Groups)
	i := slices.IndexFunc(all, func(g policy.Group) bool { return g.Name == in.Name })
	if i < 0 {
		return GroupOut{}, noGroup(in.Name)
	}
	return GroupOut{k.Version(), view(k.Compiled, all[i])}, nil
}

// rewrite makes the next version of the policy with the same rules, and with what stands beside them changed.
func (b *Book) rewrite(ctx context.Context, tx *db.Tx, where, kind, subject, note string, change func(*data) error) (d data, v int64,
	compiled known, err error) {
	c := op.CallerFrom(ctx)
	if v, err = next(tx, c.Tenant, kind, subject, note, c.Name); err != nil { // locks the policy
		return d, v, compiled, err
	}
	rules, d, lost, err := b.rulesNow(ctx, tx, c.Tenant)
	if err == nil && lost {
		err = fault.New(fault.Conflict, where, "the rules that the journal vouches for are gone from the database").
			WithNext("write them again: tandem policy edit")
	}
	if err == nil {
		err = change(&d)
	}
	if err == nil {
		err = putRules(ctx, tx, c.Tenant, v, rules, d)
	}
	if err == nil {
		compiled, err = b.check(ctx, tx, c.Tenant, where)
	}
	if err == nil {
		op.Note(ctx, "version", v)
		b.changed(tx, c.Tenant)
	}
	return d, v, compiled, err
}

// regroup makes the next version of the policy with other groups.
func (b *Book) regroup(ctx context.Context, tx *db.Tx, where, name, note string, change func([]policy.Group) ([]policy.Group, error)) (
	GroupOut, error) {
	d, v, compiled, err := b.rewrite(ctx, tx, where, "group", name, note, func(d *data) (err error) {
		d.Groups, err = change(d.Groups)
		return err
	})
	if err != nil {
		return GroupOut{}, err
	}
	for _, g := range policy.WithOwners(d.Groups) {
		if g.Name == name {
			return GroupOut{v, view(compiled.Compiled, g)}, nil
		}
	}
	return GroupOut{v, GroupView{Name: name, Members: []string{}, People: []string{}}}, nil
}

func (b *Book) addGroup(ctx context.Context, tx *db.Tx, in GroupIn) (GroupOut, error) {
	members, err := in.members()
	switch {
	case err != nil:
		return GroupOut{}, err
	case in.Name == policy.Owners:
		return GroupOut{}, fault.New(fault.Invalid, "group.add", "who owns this house is changed by a command of its own").
			WithNext("share ownership: tandem person owner add NAME")
	case len(members) == 0:
		return GroupOut{}, fault.New(fault.Invalid, "group.add", "say who is to be in it").WithNext("tandem group add %s NAME…", in.Name)
	}
	for _, m := range members {
		if m.Kind != policy.Person {
			continue
		}
		if err := b.here(ctx, tx, "group.add", m.ID); err != nil {
			return GroupOut{}, err
		}
	}
	return b.regroup(ctx, tx, "group.add", in.Name, in.Note, func(all []policy.Group) ([]policy.Group, error) {
		i := slices.IndexFunc(all, func(g policy.Group) bool { return g.Name == in.Name })
		if i < 0 {
			i, all = len(all), append(all, policy.Group{Name: in.Name})
		}
		for _, m := range members {
			if !slices.Contains(all[i].Members, m) {
				all[i].Members = append(all[i].Members, m)
			}
		}
		return all, nil
	})
}

func (b *Book) removeGroup(ctx context.Context, tx *db.Tx, in GroupIn) (GroupOut, error) {
	members, err := in.members()
	if err != nil {
		return GroupOut{}, err
	}
	if in.Name == policy.Owners {
		return GroupOut{}, fault.New(fault.Invalid, "group.remove", "who owns this house is changed by a command of its own").
			WithNext("take ownership back: tandem person owner remove NAME")
	}
	tenant := op.CallerFrom(ctx).Tenant
	return b.regroup(ctx, tx, "group.remove", in.Name, in.Note, func(all []policy.Group) ([]policy.Group, error) {
		i := slices.IndexFunc(all, func(g policy.Group) bool { return g.Name == in.Name })
		if i < 0 {
			return nil, noGroup(in.Name)
		}
		for _, m := range members {
			at := slices.Index(all[i].Members, m)
			if at < 0 {
				return nil, fault.New(fault.NotFound, "group.remove", "%s is not a member of %s", m, in.Name).
					WithNext("see who is: tandem group show %s", in.Name)
			}
			all[i].Members = slices.Delete(slices.Clone(all[i].Members), at, at+1)
		}
		if len(members) > 0 && len(all[i].Members) > 0 {
			return all, nil
		}
		by, err := b.namedBy(ctx, tx, tenant, in.Name)
		if err == nil && by != "" {
			err = fault.New(fault.Conflict, "group.remove", "%s names the group %s: without it, it would mean nobody", by, in.Name).
				WithNext("change that first, or put somebody else into the group: tandem group add %s NAME", in.Name)
		}
		return slices.Delete(slices.Clone(all), i, i+1), err
	})
}

// namedBy says what would mean nobody without a group.
func (b *Book) namedBy(ctx context.Context, tx *db.Tx, tenant, name string) (string, error) {
	k, err := b.within(ctx, tx, tenant)
	if err != nil {
		return "", err
	}
	ref := policy.PrincipalRef{Kind: policy.GroupOf, ID: name}
	for _, g := range k.written.Groups {
		if slices.Contains(g.Members, ref) {
			return "the group " + g.Name, nil
		}
	}
	for _, g := range k.all() {
		if g.RevokedAt == nil && (g.Principal == ref || slices.Contains(g.Approvers, ref)) {
			return "the grant " + g.ID, nil
		}
	}
	if rule := k.RuleOf(name); rule != "" {
		return fmt.Sprintf("the rule %s", rule), nil
	}
	return "", nil
}

// here refuses somebody who is no person of this house now.
func (b *Book) here(ctx context.Context, tx *db.Tx, where, name string) error {
	if b.Able == nil {
		return nil
	}
	here, _, err := b.Able(ctx, tx, op.CallerFrom(ctx).Tenant, name)
	if err == nil && !here {
		err = fault.New(fault.NotFound, where, "there is no person %.64q", name).
			WithNext("see who is here: tandem person list; invite them: tandem invite --person %.64s", name)
	}
	return err
}
