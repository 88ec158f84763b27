package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every function of the word, for every row of the state table, against a model without bits. */
class LatchWordTest {
  private static final long MANY = LatchWord.SHARED_MASK - 1;

  /** A latch as one would write it without thinking of bits. */
  private record Model(boolean exclusive, long shared, boolean parked) {
    long word() {
      return (exclusive ? 1L << 63 : 0) | (parked ? 1L << 62 : 0) | shared;
    }

    boolean legal() {
      return exclusive ? shared == 0 : shared > 0 || !parked;
    }
  }

  private static List<Model> all() {
    List<Model> models = new ArrayList<>();
    for (boolean exclusive : new boolean[] {false, true}) {
      for (boolean parked : new boolean[] {false, true}) {
        for (long shared : new long[] {0, 1, 2, 3, MANY}) {
          models.add(new Model(exclusive, shared, parked));
        }
      }
    }
    return models;
  }

  private static List<Model> legal() {
    return all().stream().filter(Model::legal).toList();
  }

  @Test
  void legality_isTheTable() {
    for (Model m : all()) {
      assertEquals(m.legal(), LatchWord.isLegal(m.word()), m::toString);
    }
  }

  @Test
  void legality_reservedBitsAreZero() {
    for (int bit = 48; bit < 62; bit++) {
      assertFalse(LatchWord.isLegal(1L << bit), "bit " + bit);
    }
  }

  @Test
  void questions_answerAsTheModel() {
    for (Model m : legal()) {
      long word = m.word();
      assertEquals(m.exclusive(), LatchWord.isExclusive(word), m::toString);
      assertEquals(m.shared(), LatchWord.sharedHolders(word), m::toString);
      assertEquals(m.parked(), LatchWord.isParked(word), m::toString);
      assertEquals(!m.exclusive() && m.shared() == 0, LatchWord.isUnheld(word), m::toString);
      assertEquals(m.parked() && m.shared() == 1, LatchWord.lastSharedWithWaiters(word));
    }
  }

  @Test
  void free_isOneWord() {
    for (Model m : legal()) {
      assertEquals(LatchWord.isUnheld(m.word()), m.word() == LatchWord.FREE, m::toString);
    }
  }

  @Test
  void admission_newReaderDoesNotJoinReadersForWhichAThreadWaits() {
    for (Model m : legal()) {
      boolean joinsPastTheQueue = m.parked() && m.shared() > 0;
      assertEquals(
          !m.exclusive() && !joinsPastTheQueue,
          LatchWord.admitsShared(m.word(), /* returning= */ false),
          m::toString);
      assertEquals(!m.exclusive(), LatchWord.admitsShared(m.word(), /* returning= */ true));
    }
  }

  @Test
  void admission_upgradeOnlyForTheOnlyReader() {
    for (Model m : legal()) {
      assertEquals(m.shared() == 1, LatchWord.admitsUpgrade(m.word()), m::toString);
    }
  }

  @Test
  void transitions_changeWhatTheySayAndNothingElse() {
    for (Model m : legal()) {
      long word = m.word();
      if (m.shared() == 1) {
        assertEquals(new Model(true, 0, m.parked()).word(), LatchWord.upgraded(word));
      }
      for (boolean parked : new boolean[] {false, true}) {
        assertEquals(
            new Model(m.exclusive(), m.shared(), parked).word(),
            LatchWord.withParked(word, parked));
      }
    }
  }

  @Test
  void leaving_isASubtractionThatKeepsThePark() {
    for (Model m : legal()) {
      if (m.exclusive()) {
        long word = m.word();
        assertEquals(new Model(false, 0, m.parked()).word(), word - LatchWord.EXCLUSIVE);
        assertEquals(
            new Model(false, 1, m.parked()).word(),
            word - (LatchWord.EXCLUSIVE - LatchWord.ONE_SHARED));
      }
    }
  }

  /** What is left of a word when a holder has been taken out of it may be unheld, and parked. */
  @Test
  void serving_neverMakesAnIllegalWord() {
    for (Model left : all()) {
      for (int waiters : new int[] {0, 1, 2, 100_000}) {
        for (boolean shared : new boolean[] {false, true}) {
          for (boolean due : new boolean[] {false, true}) {
            for (boolean others : new boolean[] {false, true}) {
              checkServed(left, waiters, shared, due, others, /* onItsWay= */ false);
              checkServed(left, waiters, shared, due, others, /* onItsWay= */ true);
            }
          }
        }
      }
    }
  }

  private static void checkServed(
      Model left, int waiters, boolean shared, boolean due, boolean others, boolean onItsWay) {
    if (left.exclusive() && left.shared() > 0
        || left.shared() == MANY
        || !shared && waiters > 1
        || waiters == 0 && others) {
      return; // cannot happen
    }
    ParkingLot.Wake wake = LatchWord.whomToWake(left.word(), waiters, shared, due, onItsWay);
    boolean unheld = !left.exclusive() && left.shared() == 0;
    boolean compatible = unheld || (shared && !left.exclusive());
    if (waiters == 0 || !compatible) {
      assertEquals(ParkingLot.Wake.NONE, wake);
    } else if (!unheld) {
      assertEquals(ParkingLot.Wake.GRANT, wake, "readers join readers without a race");
    } else {
      ParkingLot.Wake barging = onItsWay ? ParkingLot.Wake.NONE : ParkingLot.Wake.RETRY;
      assertEquals(due ? ParkingLot.Wake.GRANT : barging, wake);
    }
    long served = LatchWord.served(left.word(), wake, waiters, shared, others);
    assertTrue(LatchWord.isLegal(served), () -> left + " became " + LatchWord.describe(served));
    switch (wake) {
      case GRANT -> {
        assertEquals(!shared, LatchWord.isExclusive(served));
        assertEquals(shared ? left.shared() + waiters : 0, LatchWord.sharedHolders(served));
        assertEquals(others, LatchWord.isParked(served), "as the queue is now");
      }
      case RETRY -> assertEquals(LatchWord.FREE, served, "who was woken answers for the queue");
      case NONE -> {
        assertEquals(left.exclusive(), LatchWord.isExclusive(served));
        assertEquals(left.shared(), LatchWord.sharedHolders(served));
        assertEquals(waiters > 0 && !unheld, LatchWord.isParked(served), "or it is on its way");
      }
    }
  }

  @Test
  void description_namesHoldersAndPark() {
    assertEquals("free", LatchWord.describe(LatchWord.FREE));
    assertEquals("exclusive, parked", LatchWord.describe(new Model(true, 0, true).word()));
    assertEquals("3 shared", LatchWord.describe(3));
  }
}
