package terminal

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// reach is how far the program of a row gets.
func (r *row) reach() *session.Reach {
	return &session.Reach{Program: r.Agent, Folders: []tool.Folder{{Path: r.Folder}}, Skips: r.Skip, Loose: r.Confined != "bwrap"}
}

// Reach is how far a session with an agent program gets.
func (d *Driver) Reach(tx *db.Tx, s *session.Session) (session.Reach, error) {
	r, err := scan(tx.QueryRow("SELECT "+rowColumns+" FROM terminal WHERE tenant = ? AND session = ?", s.Tenant, s.ID))
	if err == nil {
		err = d.counts(tx, r)
	}
	if err != nil {
		return session.Reach{}, err
	}
	return *r.reach(), nil
}

// usual is the folder of a session that names none: the default one, or that of the session which opens it.
func (d *Driver) usual(ctx context.Context, c op.Caller) (string, error) {
	opener := session.OpenerOf(c)
	if opener == "" {
		return d.Default, nil
	}
	s, err := d.room.Get(ctx, c.Tenant, opener)
	if err != nil {
		return "", err
	}
	return orElse(s.Directory, d.Default), nil
}
