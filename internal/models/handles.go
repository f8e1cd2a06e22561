package models

import (
	"tandem/internal/op"
	"tandem/internal/provider/catalog"
)

// The operations of models and their providers.
const (
	ProviderAdd     = op.Def[ProviderAddIn, catalog.Entry]("provider.add")
	ProviderDefault = op.Def[DefaultIn, DefaultIn]("provider.default")
	ProviderKey     = op.Def[ProviderKeyIn, OK]("provider.key")
	ProviderList    = op.Def[Nothing, ProvidersOut]("provider.list")
	ProviderModels  = op.Def[ProviderIn, ModelsOut]("provider.models")
	ProviderRemove  = op.Def[ProviderIn, OK]("provider.remove")
)
