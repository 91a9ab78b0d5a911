// Package catalog turns one YAML file into the vendors, models, routes and
// policies that warmroute may use, and keeps the last good one while the file
// is edited.
//
// Its promise: adding a vendor is a YAML edit and nothing else; every mistake
// of meaning is reported at once, with file, line, column, what is wrong and
// what to do; prices are read from the text as written, exactly; and a bad edit
// while serving leaves the last good catalog in force and says so.
//
// Start with [Parse], which reads a text, [Catalog.Resolve], which finds what a
// client asked for, and [Live], which follows a file.
//
// What the schema leaves open is settled so:
//
//   - Names of models, aliases and policies are their text in the file, so 4.10,
//     no, 0x10 and null are names like any other. Vendors' names are small
//     letters, digits, dots, dashes and underscores, because they stand in header
//     names.
//   - A key file's relative path counts from the catalog's folder. A credential
//     whose variable is not set or whose file is blank is a warning; it is left
//     out of every plan. A key written into the file is an error, and no problem
//     ever quotes one.
//   - What looks like a key is shown in no message, wherever it was written. Header
//     names with token, secret, auth, key, credential or cookie in them are taken
//     for keys; anthropic-version, openai-organization and their like are not.
//   - A vendor's host is a plain name or a plain address: 127.1, 0x7f000001 and
//     localhost. are errors, since one program reads them as a name and another
//     as an address. [PublicAddr] is the one rule of what needs allow_private.
//   - Of more than a hundred mistakes the first are told and the others counted.
//   - A tier, a window and a service tier state all their prices themselves; what
//     they leave out is unknown, not inherited. A window names its zone. The fee
//     of a request and the surcharges hold in all of them.
//   - A route has one price or a list of them, each for a period of its own
//     (valid_from, valid_to), in any order. Two may not overlap; between two that
//     do not meet the price is unknown, never the old one, which is a warning.
//   - cache_read_implicit is what a read costs on a turn without cache markers,
//     where the vendor has two prices for reads; cache_read is then that of what
//     markers asked to keep.
//   - Plain http is for private addresses only, and only with allow_private.
//   - A price outside 0.001 to 1000 per million tokens, other than zero, is a
//     warning: the unit is probably another.
//   - Gates that the design names and nothing implements are errors, not silence.
//
// The package also reads the config file of a gateway, with the same reader and
// the same promise: see [LoadConfig]. Days in it are written 30d, sizes 32MiB; how
// long something is kept may be forever. Its relative paths count from the working
// directory, as those of flags do. A profile and what is said beside it
// ([ProfileSettings]) stand for all or for a tenant; one that is off until something is
// said warns where nothing is. A tenant's own key for a vendor (byok) that is not there
// is an error, because the operator would be billed instead; and so is a tenant's key
// that is not there, is shorter than sixteen characters or stands twice, because somebody
// would be turned away, let in by guessing, or taken for another.
//
// The keys of both files stand in one place, the shapes; the JSON schemas for editors
// are made from them ([Schema], [ConfigSchema]), and so is the order of keys
// ([KeyOrder]). [Usage] is how a vendor counts, by one of the conventions that the
// package knows or by paths that the catalog lists. [Starter] is the catalog that comes
// with the program. Package edit changes catalogs as text, and package pricelist reads
// the public lists that prices are taken from.
//
// [Lint] says what is remarkable in a catalog without mistakes: prices that are most
// likely slips, old or missing ones, and warm caches that never pay. Every mistake
// and every finding has a code and a page on it, see [Explain]; a finding that is
// meant is silenced in the file, at its place and with a reason. What the reader
// warns of stands in [Catalog.Warnings]; rules that need the time of day or compare
// routes are Lint's alone, which reads the text once more and keeps nothing.
//
// A Catalog never changes once built and may be read by any number of goroutines.
package catalog
