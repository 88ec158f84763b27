package org.revenantdb.suite.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ValuesTest {

  @Test
  void value_containsItsVersion() {
    for (int length : new int[] {8, 9, 100, 70_000}) {
      byte[] value = Values.of(0x1234_5678_9ABC_DEF0L, length);
      assertEquals(length, value.length);
      assertEquals(0x1234_5678_9ABC_DEF0L, Values.verify(value));
      assertEquals(0x1234_5678_9ABC_DEF0L, Values.verify(new ByteArrayInputStream(value)));
    }
  }

  @Test
  void stream_hasTheSameBytes() throws Exception {
    byte[] value = Values.of(5, 10_001);
    assertArrayEquals(value, Values.stream(5, 10_001).readAllBytes());
    var in = Values.stream(5, 3);
    assertEquals(value[0] & 0xFF, in.read());
    assertEquals(value[1] & 0xFF, in.read());
    assertEquals(value[2] & 0xFF, in.read());
    assertEquals(-1, in.read());
    assertEquals(-1, in.read(new byte[3]));
  }

  @Test
  void verify_findsEveryFlippedBit_andForeignTails() {
    byte[] value = Values.of(77, 50);
    for (int bit = 8 * Values.NAMED; bit < 8 * value.length; bit++) {
      byte[] damaged = value.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      assertThrows(ModelFailure.class, () -> Values.verify(damaged));
    }
    byte[] mixed = value.clone();
    System.arraycopy(Values.of(78, 50), 40, mixed, 40, 10);
    assertThrows(ModelFailure.class, () -> Values.verify(mixed));
    assertThrows(ModelFailure.class, () -> Values.verify(new byte[3]));
  }

  @Test
  void keys_haveTheOrderOfTheirNumbers_andMapBackToThem() {
    for (KeySpace space : KeySpace.values()) {
      byte[] last = new byte[0];
      for (int number = 0; number < space.rows(); number++) {
        byte[] key = space.key(number);
        assertTrue(Arrays.compareUnsigned(last, key) < 0);
        assertTrue(key.length <= 1_024);
        assertEquals(space.row(number), space.rowOf(key));
        last = key;
      }
      byte[] foreign = Arrays.copyOf(last, last.length + 1);
      assertThrows(ModelFailure.class, () -> space.rowOf(foreign));
    }
  }

  @Test
  void lengths_identifyTheirVersion_andReachMegabytes() {
    SplittableRandom random = new SplittableRandom(1);
    int longest = 0;
    for (int i = 0; i < 5_000; i++) {
      for (KeySpace space : KeySpace.values()) {
        int length = space.valueLength(random);
        assertTrue(length >= Values.NAMED);
        longest = Math.max(longest, length);
      }
    }
    assertTrue(longest >= 1 << 20);
  }

  @Test
  void rows_areEqualAfterEncodingAndDecoding() {
    ChildLedger ledger = new ChildLedger(new org.revenantdb.chaos.oracle.CrashOracle<>());
    ledger.accept(WorkerMain.hex("T", 0, 1, 2, 3));
    for (KeySpace space : KeySpace.values()) {
      ledger.accept(WorkerMain.hex("R", 0, ChildLedger.code(space.row(space.rows() - 1)), 0));
    }
    ledger.accept("C 0");
    ledger.accept("A 0 9");
    assertEquals(1, ledger.acknowledged());
    assertThrows(IllegalStateException.class, () -> ledger.accept("?"));
    assertThrows(IllegalStateException.class, () -> ledger.accept("C 7"));
  }
}
