// The sentences and plots of the built-in stories. The notation is in docs/data.md.
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
  3: <a look> <spot>
  2: <fruit>, <look> <finds> and <wares>
  1: <flavour> <food>

# --- how a story begins ---------------------------------------------------------------------------------------------
rule opening
  On <date>, a <sky> <daytime>, {hero.name} the {hero.kind} <walked> to the <place> with <load>.
  {hero.name} the {hero.kind} lived by the <look> <place> with <load> and <a look> <garment>.
  It was <date>, and {hero.name} the {hero.kind} sat <under> <a look> <spot>, eating <flavour> <food>.
  Long ago <a temper> {hero.kind} named {hero.name} lived <under> the <look> <place>.
  <A temper> {hero.kind} named {hero.name} sold <goods> and <look> <birds> at the <place>.

rule scene
  {hero.He} wore <a look> <garment> and <a look> hat.
  {hero.He} had <load>, <load> and <a look> <spot>.
  Above the <place>, <number> <look> <birds> <sang> <loudly>.
  The <look> <place> smelled of <look> <wares> and <flavour> <food>.

# --- a thing is lost ------------------------------------------------------------------------------------------------
rule lost
  But {hero.name} could not find {hero.his} <look> {thing.name}.
  Then {hero.name} lost <a look> {thing.name} <under> the <place>.
  At <time> {hero.his} <look> {thing.name} was gone, and {hero.name} felt <feeling>.

rule search
  {hero.name} looked <under> the <look> <spot>, but found <load> and <load>.
  {hero.name} <walked> to the <place>, but saw only <load> and <load>.

rule meeting
  "Have you seen my {thing.name}?" {hero.he} asked <a temper> {friend.kind}.
  "I lost my {thing.name}," {hero.he} told <a temper> {friend.kind} with <load>.

rule advice
  "Look <under> the <look> <spot>," said the {friend.kind} <loudly>.
  "It is <under> the <place>," said the {friend.kind}, eating <flavour> <food>.
  "Give me <load>," said the {friend.kind} <loudly>.

rule return
  So {hero.name} and the {friend.kind} found the {thing.name} <under> <a look> <spot>.
  {hero.name} <walked> to <a look> <spot>, and there was the {thing.name}.

# --- a thing is found -----------------------------------------------------------------------------------------------
rule finding
  <^under> the <look> <spot>, {hero.name} found <a look> {thing.name} and <load>.
  {hero.name} <walked> to the <place> and saw <a look> {thing.name} <under> the <spot>.

rule asking
  "Whose is it?" asked {hero.name} <loudly>.
  "Who lost <a look> {thing.name}?" asked {hero.name}.

rule owner
  "It is mine," said <a temper> {friend.kind} with <load>.
  "That is my {thing.name}," said <a temper> {friend.kind} from the <look> <place>.

rule reward
  The {friend.kind} gave {hero.name} <load> and <sang> <loudly>.
  The {friend.kind} <sang> <loudly> and gave {hero.name} <load> and <load>.

# --- a meal for a friend --------------------------------------------------------------------------------------------
rule cooking
  {hero.name} made <flavour> <food> for <a temper> {friend.kind} with <load>.
  {hero.name} baked <a look> cake with <load> for <a temper> {friend.kind}.

rule gathering
  {hero.He} got <load> from the <place>, and <load> from the <look> <place>.
  {hero.He} put <load> and <load> in <a look> pot.

rule tasting
  The {friend.kind} felt <feeling>, <sang> <loudly> and ate with {hero.name}.
  "I taste <fruit> and <look> <goods>," the {friend.kind} told {hero.name}.

# --- a journey ------------------------------------------------------------------------------------------------------
rule leaving
  {hero.name} went to see <number> <look> <birds> <under> the <place>.
  {hero.name} packed <load> and <load> and left for the <look> <place>.

rule crossing
  {hero.He} <walked> past the <place>, <a look> <spot> and <number> <look> <birds>.
  At <time> {hero.name} <walked> <loudly> to the <look> <place>.

rule companion
  On the way {hero.he} met <a temper> {friend.kind} with <load>.
  There {hero.name} saw <a temper> {friend.kind} <under> <a look> <spot>.

rule arrival
  {hero.name} and the {friend.kind} <sang> <loudly> and shared <load>.
  "Come with me," said {hero.name}, and the {friend.kind} <sang> <loudly>.

# --- how a story ends -----------------------------------------------------------------------------------------------
rule ending
  At <time> {hero.name} dreamed of <load> and <look> <birds>.
  At last {hero.name} went home, <feeling>, with <load>.
  Then {hero.name} felt <feeling> and <sang> <loudly> until <time>.
  And {hero.name} hung <a look> <garment> on <a look> <spot> and slept until <time>.
)grammar";

}  // namespace cladtorch::data
