// Package pricelist reads the five public price lists into one neutral form, and
// says where a list cannot be right and where lists disagree.
//
// Its promise: a price is what the list states, read from its text without a
// float, or it is unknown. Nothing is filled in, guessed from another vendor or
// corrected, but for digits that only a float can have written ([FloatNoise]) and
// keys that are plainly misspelt ([MisspeltKey]), and both are said; whatever is
// doubtful is a [Flag] on the row, and whatever is not a chat model with a price is
// counted as a [Skip] with its reason.
//
// Start with [Read], then [List.Routes], which is one row for each (model, vendor)
// pair, [Check], which compares rows of a model across lists and vendors, and
// [Compare], which puts the lists' figures for a pair side by side.
//
// What the lists leave open is read so:
//
//   - A tier's number is a threshold that the prompt must lie strictly above,
//     as vendors state it, also where OpenRouter calls it min_prompt_tokens. The
//     whole request moves.
//   - A tier states its own prices: what it leaves out is unknown above the
//     threshold. In genai-prices each price has its own tiers, so a price without
//     them holds above as well.
//   - A cache price of 0 is unknown unless input is 0 too; an input or output of 0
//     beside one that is not is unknown.
//   - litellm's _flex, _priority and _batches are the service tiers flex, priority
//     and batch; its provider_specific_entry and uplift multipliers are surcharges,
//     as are Portkey's regions and the speed "fast" where one number multiplies
//     every price.
//   - Portkey's ids -lte-200k and -gt-200k are one model with a tier.
//   - genai-prices' start_date begins a period at midnight UTC; its hours are UTC.
//   - Days that a list gives for the model, not for the price, are not AsOf.
//
// The package reads no clock. A list may be read by several goroutines once
// [Read] has returned it; [Check] writes to it.
package pricelist
