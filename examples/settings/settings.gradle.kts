rootProject.name = "settings"
