// Package edit changes the YAML of a catalog as text.
//
// Its promise: what a change does not name stays byte for byte: comments, blank
// lines, order, quoting, flow or block style, line ends. A value is spliced in
// place, a missing key is written in the style of its mapping, a new route or
// model in the style of its neighbours. What was made is read again and must hold
// exactly the intended change and every comment; else the change is refused and
// nothing is given back.
//
// Start with [Open], which places the parts of a text, and [Document.Edit].
// [Import] brings the rows of a public price list into a catalog, [Format] writes
// a catalog's keys in their canonical order, and [Differences] tells what two
// catalogs mean differently.
//
// What the design leaves open is settled so:
//
//   - A list that begins as the one that is there, by the first key of its items, is
//     appended to. Any other of another length takes its place, unless a comment
//     stands in it: then the change is refused, since its place would be lost.
//   - An import adds and updates; it never removes a price, a route or a model.
//   - A price is an import's own if its source names the same list. All others are
//     somebody's, and are kept unless the import is forced. One of a page or of
//     another list that the list confirms in every figure takes its later day.
//   - A vendor is added only with an address of its documentation; those whose
//     address holds an account or a region are left to their users.
//   - Of two routes of one list to the same model and vendor the first is taken.
//   - A format moves keys, never entries that are in an order of their own:
//     vendors, models, routes, policies, headers and service tiers.
package edit
