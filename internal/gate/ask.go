package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// ask finds the ask that stands for this exact call, or files one; the ask and the event that tells of it are one
// transaction. nil means that it is approved: the call may go on, and spends the approval on its way.
func (g *Gate) ask(ctx context.Context, c *call) error {
	wish := approval.Call{Caller: c.caller, Op: c.op.Name, Needs: approval.Needs(c.decision.Needs)}
	for _, p := range c.decision.Approvers {
		wish.Approvers = append(wish.Approvers, p.String())
	}
	if err := g.standing(ctx, c, wish); err != nil || c.ruled {
		return err
	}
	digest, err := c.asking(ctx)
	if err != nil {
		return err
	}
	input, err := c.op.Redacted(c.in)
	if err != nil {
		return err
	}
	wish.Resource, wish.Digest, wish.Input, wish.Bound = c.resource.String(), digest, input, c.bound
	wish.Reason, wish.By = c.decision.Reason, c.decision.By
	if wish.Until, err = c.op.Until(ctx, c.in); err != nil {
		return err
	}
	if t := c.touches(ctx); t != nil {
		wish.Command = t.Shell
	}
	if !c.minded {
		wish.Always, wish.AlwaysInFolder = policy.Suggest(c.tool, c.facts), policy.SuggestIn(c.tool, c.facts)
	}
	var a *approval.Ask
	var held bool
	var lacks string
	err = g.db.Write(ctx, func(tx *db.Tx) (err error) {
		a, held, lacks = nil, false, ""
		if _, found, err := c.repeated(tx); err != nil || found {
			return err // it passed before: its answer is repeated, which needs no approval
		}
		var fresh bool
		if a, fresh, err = g.asks.File(tx, wish); err == nil && a.State == approval.Approved {
			if held, err = g.held(tx, a.Tenant, a.Seal()); err == nil && held {
				lacks, err = g.asks.Suffices(ctx, tx, a, wish)
			}
			if err == nil && (!held || lacks != "") {
				err = g.asks.Disown(tx, a)
			}
		}
		if err != nil || !fresh {
			return err
		}
		return g.filed(tx, c, a)
	})
	if err != nil || a == nil {
		return err
	}
	if a.State == approval.Approved && !held {
		return g.refuse(ctx, c, forged(c, a.ID))
	}
	if lacks != "" {
		return g.refuse(ctx, c, fault.New(fault.Denied, c.op.Name, "the approval %s is not enough as the policy is now: %s", a.ID, lacks).
			With("approval", a.ID).WithNext("repeat the call to ask again"))
	}
	if a.State == approval.Approved {
		c.approval = a.ID
		return nil
	}
	return a.Answer()
}

// asking is the digest that an approval is bound to: the exact call, and what the names in it stand for now.
func (c *call) asking(ctx context.Context) (string, error) {
	exact, err := c.exact()
	if err == nil {
		c.bound, err = c.op.Bind(op.WithSight(ctx, c.sight()), c.in)
	}
	if err != nil {
		return "", err
	}
	c.asked = exact
	if len(c.bound) > 0 {
		h := sha256.New()
		fmt.Fprintf(h, "tandem ask v1\n%s\n", exact)
		for _, b := range c.bound {
			if !b.Shown { // it follows from the others
				fmt.Fprintf(h, "%q %q\n", b.Name, b.Value)
			}
		}
		c.asked = hex.EncodeToString(h.Sum(nil))
	}
	return c.asked, nil
}

// standing looks for a standing answer that counts for this ask and covers what the call touches. Whoever gave one knew nothing of what
// somebody else wants left alone.
func (g *Gate) standing(ctx context.Context, c *call, wish approval.Call) error {
	if c.minded || c.tool == "" || c.caller.Session == "" {
		return nil
	}
	rules, err := g.asks.Rules(ctx, wish)
	if err == nil {
		rules, err = g.vouched(ctx, rules)
	}
	for _, r := range rules {
		if policy.ToolCovers(r.Pattern, c.tool, c.facts) {
			c.approval, c.ruled = r.ID, true
			return nil
		}
	}
	return err
}

// filed records that somebody has to answer. The event is about what the call touches, so whoever may see that may see this.
func (g *Gate) filed(tx *db.Tx, c *call, a *approval.Ask) error {
	facts := map[string]any{"approval": a.ID, "digest": a.Digest, "reason": a.Reason, "approvers": a.Approvers, "expires_at": a.ExpiresAt}
	if who := a.Needs; who.Two || who.Others || len(who.Presence) > 0 {
		facts["needs"] = who
	}
	if len(a.Gone) > 0 {
		facts["gave_way"] = a.Gone
	}
	_, err := g.append(tx, c, journal.Asked, 0, facts)
	return err
}

// spend uses up the call's approval inside the call's own transaction. It was approved a moment ago; when it is not any more,
// somebody else's call used it, and this one has to ask again.
func (g *Gate) spend(tx *db.Tx, c *call) error {
	if c.decision.Effect != policy.Ask || c.ruled {
		return nil
	}
	a, ok, err := g.asks.Spend(tx, c.caller.Tenant, c.caller.Actor, c.asked)
	if err != nil {
		return err
	}
	if !ok || a.ID != c.approval {
		return fault.New(fault.Conflict, c.op.Name, "the approval was used by another call").WithNext("repeat the call to ask again")
	}
	if held, err := g.held(tx, a.Tenant, a.Seal()); err != nil {
		return err
	} else if !held {
		return forged(c, a.ID)
	}
	c.notes.Seal(a.Seal().Subject) // from here on it is spent, whatever its row says
	return nil
}

// spendAlone is for calls that write nothing themselves: the spending is their one event.
func (g *Gate) spendAlone(ctx context.Context, c *call) error {
	if c.decision.Effect != policy.Ask || c.ruled {
		return nil
	}
	return g.db.Write(ctx, func(tx *db.Tx) error {
		if err := g.spend(tx, c); err != nil {
			return err
		}
		_, err := g.append(tx, c, journal.Done, 0, nil)
		return err
	})
}
