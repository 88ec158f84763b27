package org.example.notes;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** A note. */
public record Note(String title, String text, List<String> tags, boolean pinned, Instant modified) {
  private static final int LONGEST_TITLE = 200;
  private static final int LONGEST_TAG = 40;
  private static final Pattern NO_WORD = Pattern.compile("[^\\p{L}\\p{N}]+");

  public Note {
    tags = List.copyOf(tags);
    if (title.isBlank() || title.length() > LONGEST_TITLE) {
      throw new IllegalArgumentException(
          "a title has 1 to " + LONGEST_TITLE + " characters, and this one has " + title.length());
    }
    for (String tag : tags) {
      if (tag.isBlank() || tag.length() > LONGEST_TAG) {
        throw new IllegalArgumentException(
            "a tag has 1 to " + LONGEST_TAG + " characters, and is not \"" + tag + "\"");
      }
    }
  }

  public Note withText(String other) {
    return new Note(title, other, tags, pinned, modified);
  }

  public Note withTags(List<String> other) {
    return new Note(title, text, other, pinned, modified);
  }

  public Note withPinned(boolean other) {
    return new Note(title, text, tags, other, modified);
  }

  Note modifiedAt(Instant when) {
    return new Note(title, text, tags, pinned, when);
  }

  /** The words by which the note is found. */
  Set<String> words() {
    return words(title + " " + text);
  }

  /** The words of a text. An index has keys of a limited length, so a long word is cut. */
  static Set<String> words(String text) {
    Set<String> words = new TreeSet<>();
    for (String word : NO_WORD.split(text.toLowerCase(Locale.ROOT))) {
      if (!word.isEmpty()) {
        int length = Math.min(LONGEST_TAG, word.codePointCount(0, word.length()));
        words.add(word.substring(0, word.offsetByCodePoints(0, length)));
      }
    }
    return words;
  }
}
