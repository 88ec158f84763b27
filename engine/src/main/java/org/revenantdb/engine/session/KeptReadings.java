package org.revenantdb.engine.session;

import java.util.ArrayList;

/**
 * The snapshots of the cursors and streams of one read-committed transaction. They stay the same
 * when the statements of the transaction take new snapshots (docs/protocols.md §33).
 *
 * <p>Threads: one at a time, inside the transaction and the gate.
 */
final class KeptReadings {
  /*
   * Slots       each has its own slot, which leads to the transaction in the list of open ones. It is freed with the
   *             last user of the reading, or with the transaction.
   */
  private final Engine engine;
  private final ArrayList<KeptReading> open = new ArrayList<>(1);

  KeptReadings(Engine engine) {
    this.engine = engine;
  }

  /** Makes a new one, with a current snapshot. */
  KeptReading open(TransactionCore core) {
    open.ensureCapacity(open.size() + 1); // before there is a slot that could be lost
    int slot = engine.snapshots().open(engine.clock());
    try {
      KeptReading fresh =
          new KeptReading(slot, core.reading().at(engine.snapshots().snapshot(slot)));
      engine.open().keep(slot, core);
      open.add(fresh);
      return fresh;
    } catch (Throwable noMemory) {
      giveBack(slot);
      throw noMemory;
    }
  }

  /** Called when one user of a reading has ended. */
  void close(KeptReading used) {
    if (used.isLast() && open.remove(used)) {
      giveBack(used.slot());
    }
  }

  /** Called when the transaction has got its id: its own rows must be visible. */
  void writesAs(long id) {
    for (KeptReading one : open) {
      one.reading().writesAs(id);
    }
  }

  /** Called when the transaction has ended; allocates nothing. */
  void end() {
    for (int i = 0; i < open.size(); i++) {
      giveBack(open.get(i).slot());
    }
    open.clear();
  }

  private void giveBack(int slot) {
    engine.open().end(slot);
    engine.snapshots().close(slot);
  }
}
