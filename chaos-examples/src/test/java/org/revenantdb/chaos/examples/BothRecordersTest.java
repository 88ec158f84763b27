package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.subject.Verdict;

/** Stores that are pure Java survive or fail in the same way, whichever recorder saw them. */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true") // two runs of each store
class BothRecordersTest extends ExampleTests {

  private static final String PROPERTY = "revenant.chaos.recorder";

  @Test
  void a_store_in_pure_java_has_the_same_verdicts_with_hooks_and_with_the_agent()
      throws IOException {
    List<Example> stores = LONG ? List.of(Example.MAPDB, Example.MVSTORE) : List.of(Example.MAPDB);
    Map<String, Verdict> hooks = verdicts(stores, "hooks");
    Map<String, Verdict> agent = verdicts(stores, "agent");

    assertEquals(hooks, agent);
    assertTrue(agent.containsValue(Verdict.CORRUPT), agent::toString);
    assertTrue(!LONG || agent.containsValue(Verdict.SURVIVED), agent::toString);
  }

  private Map<String, Verdict> verdicts(List<Example> stores, String recorder) throws IOException {
    System.setProperty(PROPERTY, recorder);
    try {
      Map<String, Verdict> verdicts = new TreeMap<>();
      for (Row row : run(stores).rows()) {
        verdicts.put(row.store() + ", " + row.part(), row.outcome().verdict());
        System.out.printf(
            "%s: %s, %s: %s, %d states %s%n",
            recorder,
            row.store(),
            row.part(),
            row.outcome().verdict(),
            row.outcome().states(),
            row.first());
      }
      return verdicts;
    } finally {
      System.clearProperty(PROPERTY);
    }
  }
}
