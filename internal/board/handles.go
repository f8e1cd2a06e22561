package board

import (
	"tandem/internal/op"
	"tandem/internal/space"
)

// The operations of a host on its spaces' boards.
const (
	BoardAdopt     = op.Def[AdoptIn, space.Accepted]("board.adopt")
	BoardChange    = op.Def[space.PostIn, space.Accepted]("board.change")
	BoardExpire    = op.Def[struct{}, ExpireOut]("board.expire")
	BoardStructure = op.Def[StructureIn, StructureOut]("board.structure")
)
