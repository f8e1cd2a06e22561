package daemon

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/automation"
	"tandem/internal/db"
	knowledge "tandem/internal/knowledge/wire"
	"tandem/internal/pack"
	"tandem/internal/pack/wire"
	"tandem/internal/policy/book"
)

// makePacks gives the room of packs what it does not own.
func (d *Daemon) makePacks() *pack.Room {
	a := d.rooms.automation
	return &pack.Room{DB: d.db, Shown: a.Shown, Has: automation.Has, On: a.PutOn, Off: a.PutOff, Gone: a.TakeAway,
		Grant: func(ctx context.Context, tx *db.Tx, g wire.Grant) (string, error) {
			note := g.Note
			if note == "" {
				note = "a pack brought it"
			}
			out, err := d.rooms.book.Add(ctx, tx, book.GrantIn{Principal: "service:automation." + g.Automation, Effect: g.Effect,
				Resource: g.Resource, Permissions: g.Permissions, Tools: g.Tools, Note: note})
			return out.ID, err
		},
		Revoke: func(ctx context.Context, tx *db.Tx, grant string, automations []string) error {
			whose, err := d.rooms.book.Whose(ctx, tx, grant)
			if name, its := strings.CutPrefix(whose, "service:automation."); err != nil || !its || !slices.Contains(automations, name) {
				return err // a pack's row is no authority over what others were granted
			}
			_, err = d.rooms.book.Revoke(ctx, tx, book.GrantIDIn{ID: grant, Note: "the pack was removed or changed"})
			return err
		},
		Reads: d.rooms.knowledge.Reads,
		Teach: func(ctx context.Context, tx *db.Tx, s wire.Space) error {
			items := make([]knowledge.AddIn, 0, len(s.Items))
			for _, i := range s.Items {
				items = append(items, knowledge.AddIn{Title: i.Title, Body: i.Body, Key: i.Key})
			}
			return d.rooms.knowledge.Teach(ctx, tx, knowledge.CreateIn{Name: s.Name, Purpose: s.Purpose}, items)
		}}
}
