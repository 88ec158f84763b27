package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Failpoint;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/** Processes that die at a failpoint: before and after each operation, and at named places. */
@Tag("slow")
class ProcessDeathPlacesTest extends ProcessDeaths {

  /**
   * Has places of every kind: only in a first life, in each life, only after a crash, and named.
   */
  static class Named extends CellSubject {
    @Override
    public void work(CellStore store, Promises promises) throws Exception {
      for (int i = 0; i < 2; i++) {
        String value = promises.seed() + "." + i;
        promises.attempt("a", value);
        Failpoint.reach("between");
        store.put("a", value);
        promises.durable("a", value);
      }
    }

    @Override
    public void check(CellStore store, Recovered recovered) {
      super.check(store, recovered);
      Failpoint.reach("after a look");
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void honestStore_survivesDeathAtEachPlace_andAtThoseWithAName() {
    List<String> places = new ArrayList<>();
    Options options =
        options(0).withFailpoints().withListener(progress -> places.add(progress.place()));
    ProcessDeathRun run = new ProcessDeathRun(Named.class, options);
    Outcome outcome = run.run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome.reason());
    assertEquals(List.of(), run.unreached());
    String all = String.join("\n", places);
    for (String place :
        List.of(
            "before CREATE org.revenantdb.chaos.crash.CellStore.create",
            "after CREATE org.revenantdb.chaos.crash.CellStore.create",
            "before WRITE org.revenantdb.chaos.crash.CellStore.write",
            "after WRITE org.revenantdb.chaos.crash.CellStore.write",
            "before RENAME org.revenantdb.chaos.crash.CellStore.put",
            "after RENAME org.revenantdb.chaos.crash.CellStore.put",
            "before DELETE org.revenantdb.chaos.crash.CellStore.recover",
            "after DELETE org.revenantdb.chaos.crash.CellStore.recover",
            "failpoint between",
            "failpoint after a look")) {
      assertTrue(all.contains(place), () -> place + " is not among\n" + all);
    }
  }

  static final class DeletesFirst extends CellSubject {
    @Override
    public CellStore open(Path dir) throws Exception {
      return CellStore.open(dir, /* deletesFirst= */ true);
    }
  }

  /** A window of one operation, which a random kill hardly ever hits. */
  @Test
  @Drawn(oneIn = 3)
  void storeThatDeletesItsFileBeforeTheNextHasItsName_isFound_atThatPlace() {
    Outcome outcome = run(DeletesFirst.class, options(0).withFailpoints());
    assertEquals(Verdict.LOST, outcome.verdict(), outcome.reason());
    assertReason("died at a failpoint in ", outcome);
    assertReason("CellStore.put", outcome);
  }
}
