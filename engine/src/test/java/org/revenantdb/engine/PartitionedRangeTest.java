package org.revenantdb.engine;

import java.util.Random;

/** Seeks, counts and deletes of a range in a table whose rows are in several trees. */
class PartitionedRangeTest extends RangeTest {
  @Override
  TableOptions options(Random choice) {
    return TableOptions.hashPartitioned(2 + choice.nextInt(TableOptions.MAX_PARTITIONS - 1));
  }
}
