// The words of the built-in stories. The notation is in docs/data.md.
//
// No word of a list begins another word of the same list: that is what keeps the grammar unambiguous. Lists
// are short and serve many sentences, so a small model soon knows them; numbers bring much of the entropy,
// since there are many and a model knows them as soon as it knows ten digits.
#include "data/stories/stories_source.h"

namespace cladtorch::data {

const char* const story_words = R"grammar(
table hero name kind He he his
  Pip  | mouse | He  | he  | his
  Nell | hen   | She | she | her
  Otto | bear  | He  | he  | his
  Fern | fox   | She | she | her
  Hugo | frog  | He  | he  | his
  Dot  | duck  | She | she | her

# Whom the hero meets; none is of a hero's kind.
table friend kind
  toad
  goose
  badger
  rabbit
  pony
  cat

# What is lost and found.
table thing name
  kite
  lamp
  drum
  hat
  spoon
  umbrella

words look
  red blue green pink grey black white gold old new big tiny round flat soft hard warm wet shiny huge

words temper
  kind shy merry proud brave grumpy polite hungry busy lazy

words feeling
  happy tired sad glad worried cosy lucky excited

words sky
  sunny misty windy rainy snowy frosty cloudy stormy

words month
  January February March April May June July August September October November December

rule date
  9: <digit> <month>
  20: (1/2)<figure> <month>

words digit
  1 2 3 4 5 6 7 8 9

words figure
  0 1 2 3 4 5 6 7 8 9

rule number
  <digit><figure><figure>

rule time
  <digit>:(0/1/2/3/4/5)<figure>

words place
  mill pond barn bridge forest garden river hill tower market cave harbour field castle village school

words spot
  log bush stone gate tree cart bench nest ladder rug door fence rock chair table bed

words goods
  apples pears plums nuts figs beans eggs candles roses buns socks bells cups pots kites hats boots rings shells
  keys maps pies gloves onions

words food
  pie soup cake tea bread jam stew toast

words flavour
  apple plum nut carrot cherry onion mint lemon

words birds
  larks gulls robins moths bees bats doves ants

words loudly
  softly loudly slowly gently bravely sadly gladly kindly

words walked
  walked ran hopped crept hurried skipped marched rode

words under
  under behind near beside

words garment
  coat cloak shawl jacket scarf vest

words sang
  sang hummed laughed danced smiled yawned waved bowed
)grammar";

}  // namespace cladtorch::data
