package org.revenantdb.chaos.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.revenantdb.history.Access.NIL;
import static org.revenantdb.history.Access.read;
import static org.revenantdb.history.Access.readList;
import static org.revenantdb.history.Access.readLists;
import static org.revenantdb.history.Access.readRegisters;

import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.TransactionOutcome;

/** What a process that may be killed sends to its parent. */
class WireTest {

  private static final int END = 10;

  @Test
  void a_child_reports_ranges_as_they_were_read() {
    HistoryRecorder there = new HistoryRecorder();
    WireReader reader = new WireReader(there);
    WireSession session =
        new WireSession(3, lines -> lines.toString().lines().forEach(reader::accept));
    TreeMap<Integer, int[]> lists = new TreeMap<>();
    lists.put(2, new int[] {5, 6});
    lists.put(4, new int[] {7});
    TreeMap<Integer, Integer> registers = new TreeMap<>();
    registers.put(1, 8);
    registers.put(3, 9);
    session.begin();
    session.readLists(0, END, lists);
    session.readLists(END, 20, new TreeMap<>());
    session.readRegisters(0, END, registers);
    session.readRegister(5, NIL);
    session.committing();
    session.ended(TransactionOutcome.DURABLE);
    assertEquals(
        List.of(
            readLists(0, END, readList(2, 5, 6), readList(4, 7)),
            readLists(END, 20),
            readRegisters(0, END, read(1, 8), read(3, 9)),
            read(5, NIL)),
        there.history().transaction(0).accesses());
  }
}
