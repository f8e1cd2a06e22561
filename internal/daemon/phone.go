package daemon

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/secret"
	"tandem/internal/server/wire"
	"tandem/internal/settings"
)

// phoneSecret is the sealed topic of ntfy: whoever knows it reads what is told.
const phoneSecret = "notice/ntfy"

// phoneOffer is the sealed topic that the panel shows for a phone that is told nothing yet.
const phoneOffer = "notice/ntfy-offer"

// phoneSecrets are names that only a person present sets by hand: another topic would be somebody else's phone.
var phoneSecrets = secret.Owned{Prefix: "notice/"}

func phone(wire.PhoneIn) op.Resource { return op.Resource{Kind: "setting", Path: "/guard/phone"} }

func (d *Daemon) phoneOps() []op.Op {
	return []op.Op{
		wire.PhoneSet.Effect(op.Spec{Right: "setting.write", Method: "PUT", Path: "/phone", MCP: "-", Present: true, People: true,
			Secret: []string{"topic"},
			Doc: "Tell a phone, by ntfy, when something waits for you. A first notice is sent before anything is kept.\n" +
				"The topic is sealed, and counts at once and at every later start."}, phone, d.setPhone, nil),
		wire.PhoneOff.Effect(op.Spec{Right: "setting.write", Method: "DELETE", Path: "/phone", MCP: "-", Present: true, People: true,
			Doc: "Tell the phone nothing more, and forget its topic."},
			func(identity.Nothing) op.Resource { return phone(wire.PhoneIn{}) }, d.phoneOff, nil),
	}
}

// phoneTopic is the topic at a start: the one that settings name, else the sealed one.
func (d *Daemon) phoneTopic(ctx context.Context) (topic string, err error) {
	if topic = d.Settings.Get("ntfy_topic"); topic != "" {
		return topic, nil
	}
	return d.sealedTopic(ctx, phoneSecret)
}

// sealedTopic is the topic that is sealed under a name, "" where there is none.
func (d *Daemon) sealedTopic(ctx context.Context, name string) (topic string, err error) {
	err = d.rooms.secret.Lend(ctx, identity.LocalTenant, name, func(v []byte) error { topic = string(v); return nil })
	switch {
	case fault.Is(err, fault.NotFound):
		return "", nil
	case fault.Is(err, fault.Unavailable): // the keyring is locked
		d.Log.Warn("the phone's topic cannot be unsealed", "err", err)
		return "", nil
	}
	return topic, err
}

// offeredTopic is what a phone that is told nothing yet may subscribe to: the same at every look and after a start, so that one that
// has subscribed hears the first notice. It is another one once a phone was told, or none was any more.
func (d *Daemon) offeredTopic(ctx context.Context) (string, error) {
	d.offers.Lock()
	defer d.offers.Unlock()
	if topic, err := d.sealedTopic(ctx, phoneOffer); topic != "" || err != nil {
		return topic, err
	}
	return d.sealToken(ctx, phoneOffer, identity.NewSecret("tandem-"), nil)
}

func (d *Daemon) setPhone(ctx context.Context, in wire.PhoneIn) (wire.PhoneOut, error) {
	if in.Topic != "" && d.Settings.Given("ntfy_topic") {
		return wire.PhoneOut{}, fault.New(fault.Conflict, string(wire.PhoneSet), "%s names a topic already, and it wins",
			d.Settings.Source("ntfy_topic")).WithNext("take it out there and start again: tandem up --replace")
	}
	if in.Topic == "" && d.rooms.notify.Topic() == "" {
		return wire.PhoneOut{}, fault.New(fault.Invalid, string(wire.PhoneSet), "no phone is told yet, so name a topic, too").
			WithNext("let one be made: tandem phone set")
	}
	out := wire.PhoneOut{Server: d.Settings.Get("ntfy_server"), Address: d.phoneURL()}
	if in.Address != "" {
		out.Address = in.Address
	}
	if err := d.rooms.notify.First(ctx, in.Topic, out.Address); err != nil {
		return wire.PhoneOut{}, fault.New(fault.Unavailable, string(wire.PhoneSet), "%s did not take a first notice, so nothing was changed: %s",
			out.Server, fault.Public(err).Msg).
			WithNext("check this machine's way there, or name a server of your own: tandem settings set ntfy_server ADDRESS")
	}
	if in.Topic != "" {
		if _, err := d.sealToken(ctx, phoneSecret, in.Topic, nil); err != nil {
			return wire.PhoneOut{}, err
		}
		d.rooms.notify.Phone(in.Topic)
		if offered, err := d.sealedTopic(ctx, phoneOffer); err == nil && offered != "" {
			if err := d.dropTopic(ctx, phoneOffer); err != nil {
				return wire.PhoneOut{}, err
			}
		}
	}
	if in.Address == "" {
		return out, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := settings.Change(d.data, "panel_address", in.Address); err != nil {
		return wire.PhoneOut{}, err
	}
	d.apply("panel_address", in.Address)
	return out, nil
}

func (d *Daemon) phoneOff(ctx context.Context, _ identity.Nothing) (identity.OK, error) {
	if d.Settings.Given("ntfy_topic") {
		return identity.OK{}, fault.New(fault.Conflict, string(wire.PhoneOff), "%s names the topic", d.Settings.Source("ntfy_topic")).
			WithNext("take it out there and start again: tandem up --replace")
	}
	err := d.dropTopic(ctx, phoneSecret)
	if err == nil {
		d.rooms.notify.Phone("")
	}
	return identity.OK{OK: err == nil}, err
}

// dropTopic forgets a sealed topic.
func (d *Daemon) dropTopic(ctx context.Context, name string) error {
	return d.db.Write(ctx, func(tx *db.Tx) error {
		if err := d.rooms.secret.Drop(tx, identity.LocalTenant, name); err != nil {
			return err
		}
		_, err := d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "secret.delete", Actor: identity.System,
			Resource: "secret:/" + name})
		return err
	})
}
