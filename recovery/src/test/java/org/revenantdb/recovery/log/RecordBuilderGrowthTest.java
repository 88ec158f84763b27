package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Regression: a byte that made the array grow was stored in the former, smaller array. */
class RecordBuilderGrowthTest {
  @Test
  void a_byte_that_makes_the_builder_grow_lands_in_the_array_that_grew() {
    RecordBuilder record = new RecordBuilder().begin(RecordType.PAD, 0);
    while (record.position() < RecordBuilder.MAX_RECORD / 2) {
      int at = record.position();
      record.putByte(at);
      assertEquals((byte) at, record.array()[at]);
    }
  }
}
