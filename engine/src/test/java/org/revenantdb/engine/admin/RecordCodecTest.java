package org.revenantdb.engine.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.CheckedSequence;
import org.revenantdb.engine.CheckedTable;

/** Messages as bytes. */
class RecordCodecTest {
  private static final AdminReply.Checked CHECKED =
      new AdminReply.Checked(
          true,
          1L << 40,
          2,
          3,
          4,
          5,
          List.of("one", "zwei \u00e4"),
          List.of(),
          "advice",
          6,
          7,
          8,
          9,
          10,
          11,
          List.of(new CheckedTable("t", 1, 2, 3, 4, 5, 6)),
          List.of(new CheckedSequence("s", 1, 2)));

  @Test
  void a_message_comes_back_as_it_was() throws IOException {
    for (AdminReply reply :
        List.of(CHECKED, new AdminReply.End(), new AdminReply.TableEntry("", 3))) {
      assertEquals(
          reply,
          RecordCodec.decode(
              RecordCodec.encode((Record) reply, AdminReply.class), AdminReply.class));
    }
    AdminRequest.Count count = new AdminRequest.Count("t", null, bytes("k"));
    AdminRequest.Count back =
        (AdminRequest.Count)
            RecordCodec.decode(RecordCodec.encode(count, AdminRequest.class), AdminRequest.class);
    assertEquals("t", back.table());
    assertTrue(back.from() == null && Arrays.equals(bytes("k"), back.end()));
  }

  @Test
  void a_message_that_was_cut_is_refused() throws IOException {
    byte[] whole = RecordCodec.encode(CHECKED, AdminReply.class);
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThrows(
          IOException.class, () -> RecordCodec.decode(cut, AdminReply.class), "at " + length);
    }
    byte[] longer = Arrays.copyOf(whole, whole.length + 1);
    assertThrows(IOException.class, () -> RecordCodec.decode(longer, AdminReply.class));
  }

  @Test
  void changed_bytes_are_a_message_or_are_refused() throws IOException {
    long seed = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextLong());
    System.out.println("RecordCodecTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    byte[] whole = RecordCodec.encode(CHECKED, AdminReply.class);
    int refused = 0;
    for (int round = 0; round < 20_000 || refused == 0; round++) {
      byte[] changed = whole.clone();
      for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt();
      }
      try {
        RecordCodec.decode(changed, AdminReply.class);
      } catch (IOException expected) {
        refused++;
      }
    }
  }
}
