package org.revenantdb.chaos.examples;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.chaos.run.CoverageRow;

/**
 * Which forces of a store its crash test needs.
 *
 * @param needed the number of places without whose forces some state failed
 * @param unneeded the other places
 */
record ForceLine(Example store, int needed, List<String> unneeded) {
  static ForceLine of(Example store, List<CoverageRow> rows) {
    List<String> unneeded =
        rows.stream().filter(row -> !row.detected()).map(row -> row.site().toString()).toList();
    return new ForceLine(store, rows.size() - unneeded.size(), unneeded);
  }

  int places() {
    return needed + unneeded.size();
  }

  Map<String, Object> json() {
    Map<String, Object> fields = new LinkedHashMap<>(store.json());
    fields.put("force_places", places());
    fields.put("force_places_needed", needed);
    fields.put("force_places_not_needed", unneeded);
    return fields;
  }
}
