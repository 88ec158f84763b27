package org.revenantdb.jmh.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The result of a measurement: figures, which are plain numbers with a name, and the points that
 * they were made from.
 */
final class Figures {
  private static final Gson JSON =
      new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

  private final Map<String, Double> figures = new LinkedHashMap<>();
  private final Map<String, Sample> points = new LinkedHashMap<>();
  private final Map<String, String> settings = new LinkedHashMap<>();

  /** Sets a figure that a reader may rely on; yes is 1, no is 0. */
  void put(String name, double value) {
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException(name + " is no number: " + value);
    }
    figures.put(name, value);
  }

  /** Adds a point that figures were made from. */
  void point(String name, Sample sample) {
    points.put(name, sample);
  }

  /** Notes a setting under which the points were measured. */
  void setting(String name, Object value) {
    settings.put(name, value.toString());
  }

  Map<String, Double> figures() {
    return Collections.unmodifiableMap(figures);
  }

  Map<String, Sample> points() {
    return Collections.unmodifiableMap(points);
  }

  JsonObject toJson(Bench.Settings run, Surroundings surroundings) {
    JsonObject json = new JsonObject();
    figures.forEach(json::addProperty);
    JsonObject detail = new JsonObject();
    detail.add("points", JSON.toJsonTree(points));
    detail.add("settings", JSON.toJsonTree(settings));
    json.add("detail", detail);
    json.add("machine", JSON.toJsonTree(surroundings.machine()));
    json.addProperty("jdk", surroundings.jdk());
    json.addProperty("commit", surroundings.commit());
    json.addProperty("seed", run.seed());
    json.addProperty("quick", run.quick());
    return json;
  }

  /** Writes to a neighbour and renames it, so that nobody reads half a file. */
  static void write(JsonElement json, Path file) throws IOException {
    Path target = file.toAbsolutePath();
    Path folder = target.getParent();
    Path name = target.getFileName();
    if (folder == null || name == null) {
      throw new IOException("not the name of a file: " + file);
    }
    Path unfinished = Files.createTempFile(folder, name.toString(), ".unfinished");
    try {
      Files.writeString(unfinished, JSON.toJson(json) + "\n");
      Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }
}
