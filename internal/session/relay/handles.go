package relay

import (
	"tandem/internal/op"
	"tandem/internal/session"
)

// The operations of relays.
const (
	RelayDo      = op.Def[ToolIn, ReadOut]("relay.do")
	RelayEnqueue = op.Def[TextIn, *Relay]("relay.enqueue")
	RelayInject  = op.Def[TextIn, *Relay]("relay.inject")
	RelayList    = op.Def[session.Nothing, ListOut]("relay.list")
	RelayRead    = op.Def[ReadIn, ReadOut]("relay.read")
	RelayStart   = op.Def[StartIn, *Relay]("relay.start")
	RelayStop    = op.Def[IDIn, *Relay]("relay.stop")
)
