// The sentences and plots of the built-in stories, which are counting tales. The notation is in docs/data.md.
//
// A model sees a window of the text only, so what a sentence needs to know of the story is close behind it:
// the hero is named in most sentences, and the friend and the thing only in a chain of sentences that each
// repeat them.
#include "data/stories/stories_source.h"

namespace cladtorch::data {

const char* const story_plots = R"grammar(
rule story
  [hero]<opening> <plot> <ending>\n\n

rule plot
  3: <scene> [thing]<lost> <search> [friend]<meeting> <advice> <return>
  3: <scene> [thing]<finding> <asking> [friend]<owner> <reward>
  2: <scene> [friend]<cooking> <gathering> <tasting>
  2: <leaving> <crossing> [friend]<companion> <arrival>

rule load
  6: <number> <look> <goods>
  2: <a look> <garment>
  1: <flavour> <food>

# --- how a story begins ---------------------------------------------------------------------------------------------
rule opening
  On <date>, {hero.name} the {hero.kind} <walked> to the <place> with <load>.
  It was <date>, and {hero.name} the {hero.kind} sat <under> <a look> <spot>, eating <flavour> <food>.
  At <time> on <a sky> day, {hero.name} the {hero.kind} <walked> to the <look> <place>.
  {hero.name} the {hero.kind} lived at <number> <^place> Lane with <load>.
  Long ago <a temper> {hero.kind} named {hero.name} had <load> and <load>.

rule scene
  {hero.He} wore <a look> <garment> and <a look> hat.
  {hero.He} sold <number> <look> <goods> for <number> pence.
  Above the <place>, <number> <look> <birds> <sang> <loudly>.
  {hero.name} counted <number> <look> <birds> and <number> <goods>.

# --- a thing is lost ------------------------------------------------------------------------------------------------
rule lost
  But at <time> {hero.name} could not find {hero.his} <look> {thing.name}.
  At <time> {hero.name} lost <a look> {thing.name} <under> the <place>.

rule search
  {hero.name} looked <under> the <look> <spot>, but found <load> and <load>.
  {hero.name} <walked> to the <place>, but saw only <load>.

rule meeting
  "Have you seen my {thing.name}?" {hero.he} asked <a temper> {friend.kind}.
  "I lost my {thing.name}," {hero.he} told <a temper> {friend.kind} with <load>.

rule advice
  "Look <under> the <look> <spot>," said the {friend.kind} <loudly>.
  "Give me <load>," said the {friend.kind} <loudly>.

rule return
  At <time> {hero.name} and the {friend.kind} found the {thing.name} <under> <a look> <spot>.

# --- a thing is found -----------------------------------------------------------------------------------------------
rule finding
  <^under> the <look> <spot>, {hero.name} found <a look> {thing.name} and <load>.
  At <time> {hero.name} saw <a look> {thing.name} <under> the <look> <spot>.

rule asking
  "Whose {thing.name} is it?" asked {hero.name} <loudly>.

rule owner
  "It is mine," said <a temper> {friend.kind} with <load>.
  "That is my {thing.name}," said <a temper> {friend.kind} from <number> <^place> Lane.

rule reward
  The {friend.kind} gave {hero.name} <load> and <sang> <loudly>.
  The {friend.kind} paid {hero.name} <number> pence and <load>.

# --- a meal for a friend --------------------------------------------------------------------------------------------
rule cooking
  At <time> {hero.name} made <flavour> <food> for <a temper> {friend.kind} with <load>.

rule gathering
  {hero.He} got <load> from the <place>, and <load> from the <place>.
  {hero.He} put <load> and <load> in <a look> pot.

rule tasting
  The {friend.kind} ate until <time>, <sang> <loudly> and gave {hero.name} <load>.
  "I taste <number> <look> <goods>," the {friend.kind} told {hero.name} <loudly>.

# --- a journey ------------------------------------------------------------------------------------------------------
rule leaving
  {hero.name} went to see <number> <look> <birds> at the <look> <place>.
  {hero.name} packed <load> and <load> and left for the <place>.

rule crossing
  {hero.He} <walked> <number> miles past the <place> and <a look> <spot>.
  At <time> {hero.name} <walked> <loudly> to the <place>.

rule companion
  At <time> {hero.name} met <a temper> {friend.kind} with <load>.

rule arrival
  {hero.name} and the {friend.kind} <sang> <loudly> and shared <load>.

# --- how a story ends -----------------------------------------------------------------------------------------------
rule ending
  At <time> {hero.name} dreamed of <load> and <look> <birds>.
  At last {hero.name} went home, <feeling>, with <load>.
  Then {hero.name} felt <feeling> and <sang> <loudly> until <time>.
  And {hero.name} hung <a look> <garment> on <a look> <spot> and slept until <time>.
)grammar";

}  // namespace cladtorch::data
