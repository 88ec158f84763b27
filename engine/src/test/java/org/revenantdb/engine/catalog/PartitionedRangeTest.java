package org.revenantdb.engine.catalog;

import java.util.Random;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.btree.RangeTest;

/** Seeks, counts and deletes of a range in a table whose rows are in several trees. */
class PartitionedRangeTest extends RangeTest {
  @Override
  public TableOptions options(Random choice) {
    return TableOptions.hashPartitioned(2 + choice.nextInt(TableOptions.MAX_PARTITIONS - 1));
  }
}
